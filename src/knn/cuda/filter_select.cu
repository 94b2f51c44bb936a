// A warp a query throughout.
#include <cmath>
#include <cstring>
#include <typeinfo>

#include "device/cuda/check.hpp"
#include "knn/cuda/filter_bounds.cuh"
#include "knn/cuda/filter_place.cuh"
#include "knn/cuda/filter_select.hpp"
#include "knn/measure_result.hpp"
#include "knn/measures/cosine.hpp"
#include "knn/measures/euclidean.hpp"
#include "knn/measures/heom.hpp"
#include "knn/measures/mixed_euclidean.hpp"
#include "knn/measures/sqeuclidean.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kWarps = 4;
// Of a list so long is the k-th best score found in registers; of a longer one in memory.
constexpr int kInRegisters = 256;
// Scores are floats: 26 leading bits of a key lose a 2^-18th of a score, and save six rounds.
constexpr int kKeyBits = 26;

template <int kPerLane>
__global__ void __launch_bounds__(kWarps * 32) threshold_kernel(const ThresholdJob job) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (query >= job.n_queries) return;
  unsigned keys[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int at = i * 32 + lane;
    const float maximum = at < job.n_maxima ? job.maxima[query * job.n_maxima + at] : kNever;
    // A group with a row that is always listed says nothing.
    keys[i] = maximum < 0.5F * kAlways ? key_of(maximum) : 0U;
  }
  const unsigned kth = kth_largest(job.k, 32, [&](unsigned trial) {
    unsigned count = 0;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) count += keys[i] >= trial ? 1U : 0U;
    return count;
  });
  if (lane != 0) return;
  const QueryBounds bounds = bounds_of(job.bounds, query);
  const double score = kth == 0 ? static_cast<double>(kNever) : static_cast<double>(of_key(kth)) - bounds.shift;
  const float cut = bounds.cut(score);
  // Not below 0: the score of any row that is one is above it.
  const bool known = bounds.residuals >= 0.0;  // else the reference answers it: nothing is listed
  job.thresholds[query] = known ? fmaxf(__double2float_rd(static_cast<double>(cut) + bounds.shift), 0.0F) : kAlways;
}

/// The score below which a row can go: of n scores, `score(i)`, that are those of different rows, the k-th best is a
/// sharper threshold than the sample's was.
template <class Score>
__device__ float tightened(const QueryBounds& bounds, int k, int n, const Score& score) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned kth = 0;
  if (n <= kInRegisters) {
    unsigned keys[kInRegisters / 32];
#pragma unroll
    for (int i = 0; i < kInRegisters / 32; ++i) keys[i] = i * 32 + lane < n ? key_of(score(i * 32 + lane)) : 0U;
    kth = kth_largest(k, kKeyBits, [&](unsigned trial) {
      unsigned count = 0;
#pragma unroll
      for (int i = 0; i < kInRegisters / 32; ++i) count += keys[i] >= trial ? 1U : 0U;
      return count;
    });
  } else {
    kth = kth_largest(k, kKeyBits, [&](unsigned trial) {
      unsigned count = 0;
      for (int i = lane; i < n; i += 32) count += key_of(score(i)) >= trial ? 1U : 0U;
      return count;
    });
  }
  if (kth == 0) return -__int_as_float(0x7f800000);
  return bounds.cut(static_cast<double>(of_key(kth)));
}

template <class M>
__device__ double distance_of(const M& measure, const RerankJob& job, std::int64_t query, std::int32_t row) {
  const double* q = job.queries + query * job.width;
  const double* t = job.train + static_cast<std::int64_t>(row) * job.width;
  typename M::State state;
#pragma unroll 4
  for (std::int64_t a = 0; a < job.width; ++a) measure.add(state, t[a], q[a], job.attributes[a]);
  return result_of_state<Quantity::distance>(measure, state);
}

__device__ bool comes_after(double distance, std::int32_t row, double other_distance, std::int32_t other_row) {
  return distance > other_distance || (distance == other_distance && row > other_row);
}

/// Sorts by (distance, row); n is a power of two.
__device__ void sort(double* distances, std::int32_t* rows, int n) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int size = 2; size <= n; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      __syncwarp();
      for (int i = lane; i < n; i += 32) {
        const int other = i ^ step;
        if (other < i) continue;
        const bool ascending = (i & size) == 0;
        if (comes_after(distances[i], rows[i], distances[other], rows[other]) != ascending) continue;
        const double distance = distances[i];
        const std::int32_t row = rows[i];
        distances[i] = distances[other];
        rows[i] = rows[other];
        distances[other] = distance;
        rows[other] = row;
      }
    }
  }
  __syncwarp();
}

/// What a warp works with: groups that are left of a list, then their rows with scores, then rows with distances.
template <int kMostRows>
struct WorkSpace {
  double distances[kMostRows];
  std::int32_t rows[kMostRows];
  __device__ float* scores() { return reinterpret_cast<float*>(distances); }  // until distances are computed
};

/// The groups of a list whose best score is at least `cut`: the first row of each to rows[0 ... most), how many there
/// are.
__device__ int keep_groups(const Candidate* list, int n, float cut, std::int32_t* rows, int most) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int n_kept = 0;
  for (int i = 0; i < n; i += 32) {
    const bool kept = i + lane < n && list[i + lane].score >= cut;
    const unsigned all_kept = __ballot_sync(~0U, kept);
    const int at = n_kept + __popc(all_kept & ((1U << lane) - 1U));
    if (kept && at < most) rows[at] = list[i + lane].first;
    n_kept += __popc(all_kept);
  }
  __syncwarp();
  return n_kept;
}

/// The scores of single rows, as the scan has them, from their images, a row at a time by the whole warp; kAlways for a
/// row that no image bounds well, kNever for one that does not count. The groups' first rows, in rows[0 ... n_groups),
/// become rows.
__device__ void score_rows(const RerankJob& job, std::int64_t query, std::int32_t* rows, float* scores, int n_groups) {
  const int lane = static_cast<int>(threadIdx.x) % 32, width = job.bounds.width;
  const __half2* image = reinterpret_cast<const __half2*>(job.query_images + query * width);
  // From the last group on: a group's rows take the place of its own and of later groups' first rows.
  for (int group = n_groups - 1; group >= 0; --group) {
    const std::int32_t first = rows[group];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kGroupRows; ++i) {
      const std::int32_t row = group_row(first, i);
      float sum = 0.0F;
      for (int c = lane * 2; c < width; c += 64) {
        const float2 q = __half22float2(image[c / 2]);
        const float2 t =
            __half22float2(*reinterpret_cast<const __half2*>(job.train_images + tile_place(row, c, width)));
        sum += q.x * t.x + q.y * t.y;
      }
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0U, sum, offset);
      if (lane != 0) continue;
      if (job.starts != nullptr) sum += job.starts[row];
      const bool counts = row < job.n_rows && !(job.self >= 0 && row == job.self + query);
      scores[group * kGroupRows + i] = !counts ? kNever : fminf(sum, kAlways);
      rows[group * kGroupRows + i] = row;
    }
    __syncwarp();
  }
}

/// Moves the rows whose score is at least `cut` to the front; how many there are.
__device__ int keep_rows(std::int32_t* rows, const float* scores, int n, float cut) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int n_kept = 0;
  for (int i = 0; i < n; i += 32) {
    const bool kept = i + lane < n && scores[i + lane] > kNever && scores[i + lane] >= cut;
    const std::int32_t row = i + lane < n ? rows[i + lane] : 0;
    const unsigned all_kept = __ballot_sync(~0U, kept);
    __syncwarp();  // all have read before one writes
    if (kept) rows[n_kept + __popc(all_kept & ((1U << lane) - 1U))] = row;
    n_kept += __popc(all_kept);
    __syncwarp();
  }
  return n_kept;
}

template <class M, int kMostRows>
__global__ void __launch_bounds__(kWarps * 32) rerank_kernel(const M measure, const RerankJob job) {
  constexpr std::int32_t kNoRow = 0x7fffffff;
  __shared__ WorkSpace<kMostRows> spaces[kWarps];
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (query >= job.n_queries) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double* distances = spaces[threadIdx.x / 32].distances;
  std::int32_t* rows = spaces[threadIdx.x / 32].rows;
  float* scores = spaces[threadIdx.x / 32].scores();
  const QueryBounds bounds = bounds_of(job.bounds, query);
  const int listed = job.lists.counts[query];
  bool uncertain = listed > job.lists.capacity || !(bounds.residuals >= 0.0);
  int n_rows = 0;
  if (!uncertain) {
    // What is always listed says nothing of its distance.
    const auto counted = [](float score) { return score < 0.5F * kAlways ? score : kNever; };
    // Rounded down: a threshold that is too low keeps more rows.
    const auto unshifted = [&](float score) {
      return fabsf(score) < 0.5F * kAlways ? __double2float_rd(static_cast<double>(score) - bounds.shift) : score;
    };
    const auto shifted = [&](float cut) { return __double2float_rd(static_cast<double>(cut) + bounds.shift); };
    const Candidate* list = job.lists.candidates + query * job.lists.capacity;
    const int k = job.k + (job.self >= 0 ? 1 : 0);
    const float cut = tightened(bounds, k, listed, [&](int i) { return counted(unshifted(list[i].score)); });
    const int n_groups = keep_groups(list, listed, shifted(cut), rows, kMostRows / kGroupRows);
    uncertain = n_groups > kMostRows / kGroupRows;
    if (!uncertain) {
      n_rows = n_groups * kGroupRows;
      score_rows(job, query, rows, scores, n_groups);
      const float sharper = tightened(bounds, job.k, n_rows, [&](int i) { return counted(unshifted(scores[i])); });
      n_rows = keep_rows(rows, scores, n_rows, shifted(sharper));
    }
  }
  if (lane == 0) job.uncertain[query] = uncertain ? 1 : 0;
  if (uncertain) return;
  int n = 32;
  while (n < n_rows) n *= 2;
  for (int i = lane; i < n; i += 32) {
    double distance = __longlong_as_double(0x7ff0000000000000);
    std::int32_t row = kNoRow;
    if (i < n_rows) {
      row = rows[i];
      distance = distance_of(measure, job, query, row);
      if (isnan(distance)) {  // at least k rows have a distance: it is none of them
        distance = __longlong_as_double(0x7ff0000000000000);
        row = kNoRow;
      }
    }
    distances[i] = distance;
    rows[i] = row;
  }
  sort(distances, rows, n);
  for (int i = lane; i < job.k; i += 32) {
    job.distances[query * job.k + i] = distances[i];
    job.rows[query * job.k + i] = rows[i];
  }
  if (lane != 0) return;
  if (n_rows < job.k || rows[job.k - 1] == kNoRow) job.uncertain[query] = 1;
  atomicAdd(job.n_listed, static_cast<unsigned long long>(listed) * kGroupRows);
  atomicAdd(job.n_evaluated, static_cast<unsigned long long>(n_rows));
}

template <class M>
void launch_rerank(const RerankJob& job, const void* bytes, cudaStream_t stream) {
  alignas(M) unsigned char copy[sizeof(M)];
  std::memcpy(copy, bytes, sizeof(M));
  const M& measure = *reinterpret_cast<const M*>(copy);
  const auto blocks = static_cast<unsigned>((job.n_queries + kWarps - 1) / kWarps);
  if (job.k <= 24) {
    rerank_kernel<M, 256><<<blocks, kWarps * 32, 0, stream>>>(measure, job);
  } else {
    rerank_kernel<M, 1024><<<blocks, kWarps * 32, 0, stream>>>(measure, job);
  }
  stope::cuda::check_launch("evaluating distances");
}

}  // namespace

void launch_thresholds(const ThresholdJob& job, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((job.n_queries + kWarps - 1) / kWarps);
  if (job.n_maxima <= 128) {
    threshold_kernel<4><<<blocks, kWarps * 32, 0, stream>>>(job);
  } else if (job.n_maxima <= 512) {
    threshold_kernel<16><<<blocks, kWarps * 32, 0, stream>>>(job);
  } else {
    threshold_kernel<32><<<blocks, kWarps * 32, 0, stream>>>(job);
  }
  stope::cuda::check_launch("finding thresholds");
}

const RerankKernel* find_rerank_kernel(const char* type, std::int64_t n_bytes) {
  static const RerankKernel kernels[] = {
      {typeid(Euclidean).name(), sizeof(Euclidean), &launch_rerank<Euclidean>},
      {typeid(SquaredEuclidean).name(), sizeof(SquaredEuclidean), &launch_rerank<SquaredEuclidean>},
      {typeid(MixedEuclidean).name(), sizeof(MixedEuclidean), &launch_rerank<MixedEuclidean>},
      {typeid(Heom).name(), sizeof(Heom), &launch_rerank<Heom>},
      {typeid(Cosine).name(), sizeof(Cosine), &launch_rerank<Cosine>},
      {typeid(CosineAngle).name(), sizeof(CosineAngle), &launch_rerank<CosineAngle>}};
  for (const RerankKernel& kernel : kernels) {
    if (std::strcmp(kernel.type, type) == 0 && kernel.n_bytes == n_bytes) return &kernel;
  }
  return nullptr;
}

}  // namespace stope::knn::cuda
