// In all these kernels one warp handles one query.
#include "device/cuda/check.hpp"
#include "knn/cuda/differences/select.cuh"
#include "knn/cuda/sort_neighbors.cuh"
#include "knn/cuda/tensor/rerank/team.cuh"

namespace stope::knn::cuda {
namespace {

__device__ int warp_sum(int value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0U, value);
#else
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0U, value, offset);
  return value;
#endif
}

/// Scores are not negative, so their bits have the same order.
__device__ unsigned key_of_score(float score) {
  return __float_as_uint(score) & 0x7fffffffU;
}

// The 18 leading bits of a key distinguish sums that differ by more than a thousandth. A few more rows are chosen than
// wanted, but it takes half the rounds.
constexpr int kFirstBit = 30, kLastBit = 13;

/// Returns a bound that at least k of n keys, `key(i)`, do not exceed, hardly above the k-th smallest key. If there are
/// fewer than k keys, all are within the bound.
template <class Count>
__device__ unsigned bound_of_kth(int k, const Count& count_below) {
  unsigned found = 0;
  for (int bit = kFirstBit; bit >= kLastBit; --bit) {
    const unsigned trial = found | (1U << bit);
    if (warp_sum(count_below(trial)) < k) found = trial;
  }
  return found | ((1U << kLastBit) - 1U);
}

template <class Key>
__device__ unsigned kth_smallest(int k, int n, const Key& key) {
  constexpr int kInRegisters = 16;
  if (n > 32 * kInRegisters) {
    return bound_of_kth(k, [&](unsigned trial) {
      int count = 0;
      for (int i = lane_of_thread(); i < n; i += 32) count += key(i) < trial ? 1 : 0;
      return count;
    });
  }
  unsigned keys[kInRegisters];
#pragma unroll
  for (int i = 0; i < kInRegisters; ++i) {
    const int at = i * 32 + lane_of_thread();
    keys[i] = at < n ? key(at) : ~0U;
  }
  return bound_of_kth(k, [&](unsigned trial) {
    int count = 0;
#pragma unroll
    for (int i = 0; i < kInRegisters; ++i) count += keys[i] < trial ? 1 : 0;
    return count;
  });
}

__global__ void __launch_bounds__(kWarps * 32)
    choose_of_groups_kernel(const GroupBests bests, int n_wanted, const ChosenRows chosen) {
  const std::int64_t query = query_of_warp();
  if (query >= chosen.n_queries) return;
  const float* scores = bests.scores + query * bests.n_groups;
  const auto n_groups = static_cast<int>(bests.n_groups);
  const unsigned kth = kth_smallest(n_wanted, n_groups, [&](int i) { return key_of_score(scores[i]); });
  std::int32_t* rows = chosen.rows + query * chosen.stride;
  int n = 0;
  for (int i = 0; i < n_groups; i += 32) {
    const int at = i + lane_of_thread();
    const bool kept = at < n_groups && scores[at] < kNoScore && key_of_score(scores[at]) <= kth;
    n = append(kept, kept ? bests.rows[query * bests.n_groups + at] : 0, rows, n, static_cast<int>(chosen.stride));
  }
  // With ties there may be more rows than wanted, and more than there is room for.
  if (lane_of_thread() == 0) chosen.counts[query] = min(n, static_cast<int>(chosen.stride));
}

/// Returns the k-th smallest of n distances, NaN left out, or infinity. A negative distance, from rounding, counts as
/// 0.
__device__ double kth_distance(const double* distances, int n, int k) {
  double found = kNoDistance;
  for (int i = 0; i < n; i += 32) {
    const int at = i + lane_of_thread();
    const double own = at < n ? distances[at] : kNaN;
    int before = 0;
    for (int j = 0; j < n; ++j) {
      const double other = distances[j];
      before += other < own || (other == own && j < at) ? 1 : 0;
    }
    const unsigned kth = __ballot_sync(~0U, own == own && before == k - 1);
    if (kth != 0) found = __shfl_sync(~0U, own, __ffs(static_cast<int>(kth)) - 1);
  }
  return larger(found, 0.0);
}

__global__ void __launch_bounds__(kWarps * 32) cut_kernel(const CutJob job, const ChosenRows chosen) {
  const std::int64_t query = query_of_warp();
  if (query >= chosen.n_queries) return;
  double reach = job.within;
  if (!(reach < kNoDistance)) {
    reach = kth_distance(chosen.distances + query * chosen.stride, chosen.counts[query], job.k);
  }
  if (lane_of_thread() != 0) return;
  if (!(reach < kEverything)) reach = job.list_all ? kEverything : kNoDistance;
  const SumCut cut = cut_of(job.rule, query, reach);
  job.cuts[query] = cut;
  job.reaches[query] = cut.beta >= 0.0F ? reach : kNoDistance;
}

template <bool kDivides>
__global__ void __launch_bounds__(kWarps * 32)
    choose_of_lists_kernel(const EntryLists lists, int k, const ChosenRows chosen) {
  const std::int64_t query = query_of_warp();
  if (query >= chosen.n_queries) return;
  const Entry* entries = lists.entries + query * lists.capacity;
  const std::int32_t listed = lists.counts[query];
  int n = 0;
  if (listed <= lists.capacity) {
    const auto score = [&](int i) { return score_of<kDivides>(entries[i].sum, entries[i].divisor); };
    const unsigned kth = kth_smallest(k, listed, [&](int i) { return key_of_score(score(i)); });
    std::int32_t* rows = chosen.rows + query * chosen.stride;
    for (int i = 0; i < listed; i += 32) {
      const int at = i + lane_of_thread();
      const bool kept = at < listed && score(at) < kNoScore && key_of_score(score(at)) <= kth;
      n = append(kept, kept ? entries[at].row : 0, rows, n, static_cast<int>(chosen.stride));
    }
  }
  // Any of the tied rows will do, as many as there is room for: k different rows prove a distance.
  if (lane_of_thread() == 0) chosen.counts[query] = min(n, static_cast<int>(chosen.stride));
}

template <bool kDivides>
__global__ void __launch_bounds__(kWarps * 32) sharpen_kernel(const SharpenJob job, const ChosenRows chosen) {
  const std::int64_t query = query_of_warp();
  if (query >= chosen.n_queries) return;
  const std::int32_t listed = job.lists.counts[query];
  const auto room = static_cast<int>(chosen.stride);
  double reach = job.reaches[query];
  bool uncertified = listed > job.lists.capacity || !(reach < kNoDistance);
  int n = 0;
  if (!uncertified) {
    reach = smaller(reach, kth_distance(chosen.distances + query * chosen.stride, chosen.counts[query], job.k));
    // A list of everything lacks rows whose sums leave the range of a float. Only a distance proves that these rows are
    // far.
    uncertified = !(reach < kEverything);
    const SumCut cut = cut_of(job.rule, query, reach);
    const Entry* entries = job.lists.entries + query * job.lists.capacity;
    std::int32_t* rows = chosen.rows + query * chosen.stride;
    for (int i = 0; i < listed; i += 32) {
      const int at = i + lane_of_thread();
      const bool kept = at < listed && keeps<kDivides>(cut, entries[at].sum, entries[at].divisor);
      n = append(kept, kept ? entries[at].row : 0, rows, n, room);
    }
    for (int i = 0; i < job.n_always; i += 32) {
      const int at = i + lane_of_thread();
      const std::int32_t row = at < job.n_always ? job.always[at] : 0;
      n = append(at < job.n_always && !job.exclusions.exclude(query, row), row, rows, n, room);
    }
    uncertified |= n > room;
  }
  if (lane_of_thread() != 0) return;
  job.uncertified[query] = uncertified ? 1 : 0;
  const int evaluated = uncertified ? 0 : n;
  const std::int32_t tried = chosen.counts[query];
  chosen.counts[query] = evaluated;
  atomicAdd(job.n_listed, static_cast<unsigned long long>(listed));
  atomicAdd(job.n_evaluated, static_cast<unsigned long long>(evaluated + tried));
}

template <int kRoom>
__global__ void __launch_bounds__(kWarps * 32) nearest_kernel(const NearestJob job, const ChosenRows chosen) {
  constexpr std::int32_t kNoRow = 0x7fffffff;
  __shared__ double distances_of[kWarps][kRoom];
  __shared__ std::int32_t rows_of[kWarps][kRoom];
  const std::int64_t query = query_of_warp();
  if (query >= chosen.n_queries || job.uncertified[query] != 0) return;
  double* distances = distances_of[threadIdx.x / 32];
  std::int32_t* rows = rows_of[threadIdx.x / 32];
  const std::int32_t n_rows = chosen.counts[query];
  int n = 32;
  while (n < n_rows || n < job.k) n *= 2;
  for (int i = lane_of_thread(); i < n; i += 32) {
    const bool there = i < n_rows;
    const double distance = there ? chosen.distances[query * chosen.stride + i] : kNaN;
    const bool counts = distance == distance;  // NaN is not among the k distances
    distances[i] = counts ? distance : kNoDistance;
    rows[i] = counts ? chosen.rows[query * chosen.stride + i] : kNoRow;
  }
  Team<1>::Memory unused;  // one warp alone exchanges values in registers
  sort_neighbors(Team<1>(unused), distances, rows, n);
  for (int i = lane_of_thread(); i < job.k; i += 32) {
    job.distances[query * job.k + i] = distances[i];
    job.rows[query * job.k + i] = rows[i];
  }
  const bool has_fewer = rows[job.k - 1] == kNoRow;
  if (lane_of_thread() == 0 && has_fewer && !job.may_have_fewer) job.uncertified[query] = 1;
}

}  // namespace

void launch_choose_of_groups(const GroupBests& bests, int n_wanted, const ChosenRows& chosen, cudaStream_t stream) {
  choose_of_groups_kernel<<<blocks_for(chosen.n_queries), kWarps * 32, 0, stream>>>(bests, n_wanted, chosen);
  stope::cuda::check_launch("choosing rows of a sample");
}

void launch_cuts(const CutJob& job, const ChosenRows& chosen, cudaStream_t stream) {
  cut_kernel<<<blocks_for(chosen.n_queries), kWarps * 32, 0, stream>>>(job, chosen);
  stope::cuda::check_launch("finding cuts");
}

void launch_choose_of_lists(const EntryLists& lists, bool divides, int k, const ChosenRows& chosen,
                            cudaStream_t stream) {
  if (divides) {
    choose_of_lists_kernel<true><<<blocks_for(chosen.n_queries), kWarps * 32, 0, stream>>>(lists, k, chosen);
  } else {
    choose_of_lists_kernel<false><<<blocks_for(chosen.n_queries), kWarps * 32, 0, stream>>>(lists, k, chosen);
  }
  stope::cuda::check_launch("choosing rows of lists");
}

void launch_sharpen(const SharpenJob& job, const ChosenRows& chosen, cudaStream_t stream) {
  if (job.rule.divides) {
    sharpen_kernel<true><<<blocks_for(chosen.n_queries), kWarps * 32, 0, stream>>>(job, chosen);
  } else {
    sharpen_kernel<false><<<blocks_for(chosen.n_queries), kWarps * 32, 0, stream>>>(job, chosen);
  }
  stope::cuda::check_launch("tightening lists");
}

void launch_nearest(const NearestJob& job, const ChosenRows& chosen, cudaStream_t stream) {
  if (chosen.stride <= kFewChosen) {
    nearest_kernel<kFewChosen><<<blocks_for(chosen.n_queries), kWarps * 32, 0, stream>>>(job, chosen);
  } else {
    nearest_kernel<kMostChosen><<<blocks_for(chosen.n_queries), kWarps * 32, 0, stream>>>(job, chosen);
  }
  stope::cuda::check_launch("sorting neighbours");
}

}  // namespace stope::knn::cuda
