// Thresholds of the list, from the sample's maxima and from the part of the list that there is; a warp a query.
#include "device/cuda/check.hpp"
#include "knn/cuda/filter_cut.cuh"

namespace stope::knn::cuda {
namespace {

constexpr int kTeams = 4;

/// kHeld keys a thread, or 0 for any number of them.
template <int kHeld>
__global__ void __launch_bounds__(kTeams * 32) threshold_kernel(const ThresholdJob job) {
  __shared__ Team<1>::Memory memory;  // one warp has no use for it
  Team<1> team(memory);
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kTeams + threadIdx.x / 32;
  if (query >= job.n_queries) return;
  const float* const own = job.maxima + query * job.n_maxima + team.lane();
  const auto key = [&](int i) { return key_of(own[i]); };
  const auto n = static_cast<int>(job.n_maxima);
  int kth = 0;
  if constexpr (kHeld > 0) {
    kth = kth_largest(team, job.k, HeldKeys<kHeld>(team, n, key));
  } else {
    kth = kth_largest(team, job.k, n, key);
  }
  if (team.lane() != 0) return;
  const QueryBounds bounds = bounds_of(job.bounds, query);
  const float cut = cut_of(bounds, kth);
  // Not below 0: the score of any row that is one is above it.
  const bool known = bounds.residuals >= 0.0;  // else the reference answers it: nothing is listed
  job.thresholds[query] = known ? fmaxf(cut, 0.0F) : kAlways;
}

__global__ void __launch_bounds__(kTeams * 32) tighten_kernel(const TightenJob job) {
  __shared__ Team<1>::Memory memory;
  Team<1> team(memory);
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kTeams + threadIdx.x / 32;
  if (query >= job.n_queries) return;
  const int listed = job.lists.counts[query];
  float threshold = __int_as_float(0x7f800000);  // overflowed: the reference answers it, nothing more is listed
  if (listed <= job.lists.capacity) {
    const Candidate* list = job.lists.candidates + query * job.lists.capacity;
    threshold = cut_of_list(team, bounds_of(job.bounds, query), job.k, list, listed);
  }
  if (team.lane() == 0) job.thresholds[query] = fmaxf(job.thresholds[query], threshold);
}

unsigned blocks_of(std::int64_t n_queries) {
  return static_cast<unsigned>((n_queries + kTeams - 1) / kTeams);
}

}  // namespace

void launch_thresholds(const ThresholdJob& job, cudaStream_t stream) {
  const unsigned blocks = blocks_of(job.n_queries);
  if (job.n_maxima <= 128) {
    threshold_kernel<4><<<blocks, kTeams * 32, 0, stream>>>(job);
  } else if (job.n_maxima <= 256) {
    threshold_kernel<8><<<blocks, kTeams * 32, 0, stream>>>(job);
  } else if (job.n_maxima > 1024) {
    threshold_kernel<0><<<blocks, kTeams * 32, 0, stream>>>(job);
  } else {
    threshold_kernel<32><<<blocks, kTeams * 32, 0, stream>>>(job);
  }
  stope::cuda::check_launch("finding thresholds");
}

void launch_tighten(const TightenJob& job, cudaStream_t stream) {
  tighten_kernel<<<blocks_of(job.n_queries), kTeams * 32, 0, stream>>>(job);
  stope::cuda::check_launch("tightening thresholds");
}

}  // namespace stope::knn::cuda
