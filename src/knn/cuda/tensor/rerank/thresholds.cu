// Thresholds of the list, from the sample's maxima and from the part of the list that exists so far.
#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/rerank/cut.cuh"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 128;

/// One team of kWarps warps a query; each of its threads holds up to kHeld keys.
template <int kWarps, int kHeld>
__global__ void __launch_bounds__(kThreads) threshold_kernel(const ThresholdJob job) {
  __shared__ typename Team<kWarps>::Memory memory;  // a team of one warp does not use it
  Team<kWarps> team(memory);
  const std::int64_t query = blockIdx.x * std::int64_t{kThreads / Team<kWarps>::kThreads} +
                             threadIdx.x / static_cast<unsigned>(Team<kWarps>::kThreads);
  if (query >= job.n_queries) return;
  const float* const own = job.maxima + query * job.n_maxima + team.thread();
  const auto key = [&](int i) { return key_of(own[i]); };
  const int kth =
      kth_largest(team, job.k, job.bounds.key_step, HeldKeys<kHeld>(team, static_cast<int>(job.n_maxima), key));
  if (team.thread() != 0) return;
  const QueryBounds bounds = bounds_of(job.bounds, query);
  const float cut = cut_of(bounds, kth);
  // The threshold is not below 0, because the score of every row that exists is above 0.
  const bool known = bounds.residuals >= 0.0;  // if not, nothing is listed: the reference answers this query
  job.thresholds[query] = known ? fmaxf(cut, 0.0F) : kAlways;
}

template <int kWarps>
__global__ void __launch_bounds__(kThreads) tighten_kernel(const TightenJob job) {
  __shared__ typename Team<kWarps>::Memory memory;
  Team<kWarps> team(memory);
  const std::int64_t query = blockIdx.x * std::int64_t{kThreads / Team<kWarps>::kThreads} +
                             threadIdx.x / static_cast<unsigned>(Team<kWarps>::kThreads);
  if (query >= job.n_queries) return;
  const int listed = job.lists.counts[query];
  float threshold = __int_as_float(0x7f800000);  // the list overflowed: the reference answers, no more is listed
  if (listed <= job.lists.capacity) {
    const ListedGroup* list = job.lists.candidates + query * job.lists.capacity;
    threshold = cut_of_list(team, bounds_of(job.bounds, query), job.bounds.key_step, job.k, list, listed);
  }
  if (team.thread() == 0) job.thresholds[query] = fmaxf(job.thresholds[query], threshold);
}

/// `warps` is per query.
unsigned blocks_of(std::int64_t n_queries, int warps) {
  return static_cast<unsigned>((n_queries * warps * 32 + kThreads - 1) / kThreads);
}

}  // namespace

void launch_thresholds(const ThresholdJob& job, cudaStream_t stream) {
  if (job.n_maxima <= 128) {
    threshold_kernel<1, 4><<<blocks_of(job.n_queries, 1), kThreads, 0, stream>>>(job);
  } else if (job.n_maxima <= 256) {
    threshold_kernel<1, 8><<<blocks_of(job.n_queries, 1), kThreads, 0, stream>>>(job);
  } else if (job.n_maxima <= 1024) {
    threshold_kernel<1, 32><<<blocks_of(job.n_queries, 1), kThreads, 0, stream>>>(job);
  } else {
    static_assert(kMostMaxima <= 4 * 32 * 32);
    threshold_kernel<4, 32><<<blocks_of(job.n_queries, 4), kThreads, 0, stream>>>(job);
  }
  stope::cuda::check_launch("finding thresholds");
}

void launch_tighten(const TightenJob& job, cudaStream_t stream) {
  constexpr int kFewNeighbors = 128;  // beyond this, lists are too long for one warp
  if (job.k <= kFewNeighbors) {
    tighten_kernel<1><<<blocks_of(job.n_queries, 1), kThreads, 0, stream>>>(job);
  } else {
    tighten_kernel<4><<<blocks_of(job.n_queries, 4), kThreads, 0, stream>>>(job);
  }
  stope::cuda::check_launch("tightening thresholds");
}

}  // namespace stope::knn::cuda
