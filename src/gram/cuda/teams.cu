// z = A^T (A x) where a row takes several blocks of threads (a team): each holds its leaves of the last rows in shared
// memory, says what they give, and adds the row to its z once it knows what the others' give. So A is read once,
// however wide it is, up to what all multiprocessors together hold of a row (a million columns on an H200).
//
// Of a block one warp talks to the team, the others multiply. At step s
//   the others   take the leaves of row s; meet at the barrier; add row s - kLatency to z; fetch row s - kLatency +
//   kStages; that warp    meets them; says what the block's leaves of row s give; collects what all say of row s + 1 -
//   kLatency,
//                whose y the others find after the next barrier.
// A message is two words of 32 bits of the number and 32 bits of the row's serial number, written and read whole, so
// that no fence is needed: who reads the serial number has the number. A place is used again after kPlaces rows. Nobody
// writes row s before it has collected row s - kLatency, hence before all have said row s - kLatency, hence before all
// have collected row s - 2 * kLatency: a place that is used again after as many rows, or more, has been read by all.
#include "device/cuda/check.hpp"
#include "gram/cuda/rows.hpp"
#include "gram/cuda/warp_rows.cuh"

namespace stope::gram::cuda {
namespace {

using stope::cuda::check;

constexpr int kPlaces = 8;
constexpr int kMostParts = 256;
constexpr int kMostBlocks = 2048;  // side by side on one GPU, far beyond any there is: room for their messages

struct Message {
  unsigned long long low, high;
};

__device__ __forceinline__ void say(Message* place, double value, std::uint32_t serial) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  const unsigned long long tag = static_cast<unsigned long long>(serial) << 32;
  const unsigned long long low = tag | (bits & 0xffffffffULL), high = tag | (bits >> 32);
#if __CUDA_ARCH__ >= 700
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(&place->low), "l"(low) : "memory");
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(&place->high), "l"(high) : "memory");
#endif
}

__device__ __forceinline__ unsigned long long look(const unsigned long long* word) {
  unsigned long long v = 0;
#if __CUDA_ARCH__ >= 700
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(word) : "memory");
#endif
  return v;
}

__device__ __forceinline__ double hear(const Message* place, std::uint32_t serial) {
  unsigned long long low = 0, high = 0;
  do {
    low = look(&place->low);
  } while (static_cast<std::uint32_t>(low >> 32) != serial);
  do {
    high = look(&place->high);
  } while (static_cast<std::uint32_t>(high >> 32) != serial);
  return __longlong_as_double(static_cast<long long>((high << 32) | (low & 0xffffffffULL)));
}

/// All threads of the block, from whichever branch.
__device__ __forceinline__ void meet(int n_threads) {
  asm volatile("bar.sync 1, %0;" ::"r"(n_threads) : "memory");
}

/// What all parts say of a row: the aligned tree over them, in every lane.
__device__ __forceinline__ double collect(const Message* places, int n_parts, std::uint32_t serial, int lane) {
  double sums[kMostParts / 32];
#pragma unroll
  for (int q = 0; q < kMostParts / 32; ++q) {
    double v = 0.0;
    if (q * 32 < n_parts) {
      if (q * 32 + lane < n_parts) v = hear(places + q * 32 + lane, serial);
      __syncwarp();  // whoever waited for a late part is back
#pragma unroll
      for (int step = 1; step < 32; step *= 2) v += __shfl_xor_sync(0xffffffffU, v, step);
    }
    sums[q] = v;
  }
#pragma unroll
  for (int step = 1; step < kMostParts / 32; step *= 2) {
#pragma unroll
    for (int q = 0; q < kMostParts / 32; q += 2 * step) sums[q] += sums[q + step];
  }
  return sums[0];
}

struct TeamJob {
  RowsJob rows;
  std::int64_t first_group, n_groups;  ///< that the rows belong to
  int n_parts, n_teams;
  Message* messages;  ///< [team][place][part]
};

template <class T, bool kShifted, int kRing>
__global__ void __launch_bounds__(544) team_kernel(const TeamJob team_job) {
  constexpr int kStages = kRing * kBatchBytes / Lane<T>::kLeafBytes;
  // Two rows hide the way to the other blocks and back; where the ring holds only three, one of them has to be under
  // way.
  constexpr int kLatency = kStages >= 4 ? 2 : 1;
  static_assert(kStages > kLatency && kPlaces >= 2 * kLatency);
  extern __shared__ __align__(16) char shared[];
  __shared__ double leaf_sums[2][16];
  __shared__ double ys[4];
  const RowsJob& job = team_job.rows;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int n_threads = static_cast<int>(blockDim.x), n_leaf_warps = n_threads / 32 - 1;
  const int part = static_cast<int>(blockIdx.x) % team_job.n_parts,
            team = static_cast<int>(blockIdx.x) / team_job.n_parts;
  const bool talks = warp == n_leaf_warps;
  Message* const messages = team_job.messages + static_cast<std::int64_t>(team) * kPlaces * team_job.n_parts;
  std::uint32_t serial = 1;  // of the group's first row; what is cleared memory says nothing

  if (talks) {
    for (std::int64_t g = team; g < team_job.n_groups; g += team_job.n_teams) {
      const std::int64_t group = team_job.first_group + g;
      const std::int64_t begin = group_begin(group, job.n_rows, job.n_groups) - job.first;
      const std::int64_t end = group_begin(group + 1, job.n_rows, job.n_groups) - job.first;
      const auto n = static_cast<int>((end < job.n ? end : job.n) - (begin > 0 ? begin : 0));
      for (int s = 0; s < n + kLatency; ++s) {
        meet(n_threads);
        if (s < n) {
          const double sum = tree_of_16(leaf_sums[s % 2], n_leaf_warps, lane);
          const std::uint32_t number = serial + static_cast<std::uint32_t>(s);
          if (lane == 0) say(messages + number % kPlaces * team_job.n_parts + part, sum, number);
        }
        const int row = s + 1 - kLatency;
        if (row >= 0 && row < n) {
          const std::uint32_t number = serial + static_cast<std::uint32_t>(row);
          const double y = collect(messages + number % kPlaces * team_job.n_parts, team_job.n_parts, number, lane);
          if (lane == 0) ys[row % 4] = y + 0.0;
        }
        __syncwarp();  // lane 0 has written before any lane meets the others
      }
      serial += static_cast<std::uint32_t>(n);
    }
    return;
  }

  const std::int64_t first_column = (static_cast<std::int64_t>(part) * n_leaf_warps + warp) * kLeafColumns;
  const bool is_there = first_column < job.n_columns;
  const LaneColumns at = LaneColumns::of(first_column, lane, job.n_columns);
  char* const ring = shared + static_cast<std::int64_t>(warp) * kStages * Lane<T>::kLeafBytes;
  const std::int64_t stride = padded_columns(job.n_columns);
  double x[kOwn], z[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) x[i] = z[i] = 0.0;
  if (is_there) read_vector(job.x, at, x);

  for (std::int64_t g = team; g < team_job.n_groups; g += team_job.n_teams) {
    const std::int64_t group = team_job.first_group + g;
    const std::int64_t group_first = group_begin(group, job.n_rows, job.n_groups) - job.first;
    const std::int64_t group_end = group_begin(group + 1, job.n_rows, job.n_groups) - job.first;
    const std::int64_t begin = group_first > 0 ? group_first : 0;
    const auto n = static_cast<int>((group_end < job.n ? group_end : job.n) - begin);
    double* const sums = job.sums + (group - job.first_group) * stride;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) z[i] = 0.0;
    if (group_first < 0 && is_there) read_vector(sums, at, z);
    const T* const rows = static_cast<const T*>(job.rows) + begin * job.row_stride;
    const auto fetch = [&](int row, int stage) {
      if (row < n) Lane<T>::fetch(ring + stage * Lane<T>::kLeafBytes, rows + row * job.row_stride, at, lane);
      end_copies();
    };
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) fetch(stage, stage);
    int stage = 0, late_stage = 0;
    for (int s = 0; s < n + kLatency; ++s) {
      if (s < n) {
        // kStages + (s - kLatency) groups of copies were begun by now (more at first), and s + 1 must have ended.
        wait_for_copies<kStages - kLatency - 1>();
        const double sum = leaf_sum<T, kShifted>(ring + stage * Lane<T>::kLeafBytes, lane, job.shift, at, x);
        if (lane == 0) leaf_sums[s % 2][warp] = is_there ? sum : 0.0;
        stage = stage + 1 == kStages ? 0 : stage + 1;
        __syncwarp();
      }
      meet(n_threads);
      if (s >= kLatency) {
        add_row<T, kShifted>(ring + late_stage * Lane<T>::kLeafBytes, lane, job.shift, at, ys[(s - kLatency) % 4], z);
        fetch(s - kLatency + kStages, late_stage);
        late_stage = late_stage + 1 == kStages ? 0 : late_stage + 1;
      }
    }
    if (is_there) write_vector(sums, at, z);
  }
}

template <class T, bool kShifted, int kRing>
void launch_teams(TeamJob& job, const Layout& layout, cudaStream_t stream) {
  auto* const kernel = team_kernel<T, kShifted, kRing>;
  const auto shared = static_cast<std::size_t>(layout.part_leaves) * kRing * kBatchBytes;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
        "reserving shared memory");
  const int threads = 32 * (layout.part_leaves + 1);
  int per_multiprocessor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, shared),
        "asking how many blocks fit");
  const int room = per_multiprocessor * layout.multiprocessors;
  const int side_by_side = (room < kMostBlocks ? room : kMostBlocks) / job.n_parts;
  if (side_by_side < 1) {
    throw Error(ErrorCode::internal,
                "a row takes " + std::to_string(job.n_parts) + " blocks, " + std::to_string(room) + " fit");
  }
  job.n_teams = static_cast<int>(job.n_groups < side_by_side ? job.n_groups : side_by_side);
  void* arguments[] = {&job};
  // Cooperative: the launch fails rather than leave out a block that the others would wait for.
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                    dim3(static_cast<unsigned>(job.n_teams * job.n_parts)),
                                    dim3(static_cast<unsigned>(threads)), arguments, shared, stream),
        "multiplying rows in teams");
}

template <class T>
void launch_teams(TeamJob& job, const Layout& layout, cudaStream_t stream) {
  const bool shifted = job.rows.shift != nullptr;
  if (layout.ring == 3) {
    shifted ? launch_teams<T, true, 3>(job, layout, stream) : launch_teams<T, false, 3>(job, layout, stream);
  } else {
    shifted ? launch_teams<T, true, 2>(job, layout, stream) : launch_teams<T, false, 2>(job, layout, stream);
  }
}

}  // namespace

bool Teams::fit(std::int64_t n_columns, std::int64_t, const Layout& layout) {
  const std::int64_t parts = n_parts(layout, n_columns);
  // One block a multiprocessor is there in any case: layout_of() saw to that.
  return parts > 1 && parts <= layout.multiprocessors && parts <= kMostParts;
}

std::int64_t Teams::exchange_bytes(const Layout&) {
  return std::int64_t{kMostBlocks} * kPlaces * static_cast<std::int64_t>(sizeof(Message));
}

void Teams::launch(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, void* exchange,
                   cudaStream_t stream) {
  if (job.n == 0) return;
  TeamJob team{job, group_of(job.first, job.n_rows, job.n_groups),
               0,   static_cast<int>(n_parts(layout, job.n_columns)),
               0,   static_cast<Message*>(exchange)};
  team.n_groups = group_of(job.first + job.n - 1, job.n_rows, job.n_groups) + 1 - team.first_group;
  check(cudaMemsetAsync(exchange, 0, static_cast<std::size_t>(exchange_bytes(layout)), stream), "clearing messages");
  if (element_bytes == 4) {
    launch_teams<float>(team, layout, stream);
  } else {
    launch_teams<double>(team, layout, stream);
  }
}

}  // namespace stope::gram::cuda
