// Votes, one thread a query: a list is short, and the additions of a class must come in the order of the list.
#include "device/cuda/check.hpp"
#include "knn/cuda/votes.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 128;
// The shared memory that every GPU gives a block of threads without a request.
constexpr std::int64_t kSharedBytes = 48 * 1024;

/// The numbers of one query, with those of other queries between them.
struct Strided {
  double* at;
  std::int64_t stride;
  __device__ double& operator[](std::int64_t i) const { return at[i * stride]; }
};

__device__ void vote_of(const VoteJob& job, std::int64_t query, const Strided& values) {
  for (std::int64_t v = 0; v < job.voters.n_values(); ++v) values[v] = 0.0;
  std::int32_t winner = -1;
  const NeighborView<std::int32_t> list{job.lists.distances + query * job.lists.stride,
                                        job.lists.rows + query * job.lists.stride, job.k, job.k};
  bool certain = job.lists.uncertified[query] == 0;
  if (certain && first_without_weight(job.rule, list) >= 0) {
    job.lists.uncertified[query] = 1;
    certain = false;
  }
  if (job.voters.codes == nullptr) {
    if (certain) values[0] = vote_for_mean(job.rule, job.voters, list);
    return;
  }
  if (certain) winner = vote_for_class(job.rule, job.voters, list, values);
  job.winners[query] = winner;
}

/// Adds up confidences in shared memory, one column of it a thread, and then writes them in the order of memory. Added
/// up in place, every addition would wait for the L2 cache.
__global__ void __launch_bounds__(kThreads) vote_in_shared_kernel(const VoteJob job) {
  extern __shared__ double shared[];  // n_values x kThreads
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads;
  const std::int64_t query = first + threadIdx.x;
  if (query < job.lists.n_queries) vote_of(job, query, {shared + threadIdx.x, kThreads});
  __syncthreads();  // all numbers of the block of threads are there
  const std::int64_t n_values = job.voters.n_values();
  const std::int64_t left = job.lists.n_queries - first;
  const std::int64_t n = (left < kThreads ? left : kThreads) * n_values;
  double* const out = job.values + first * n_values;
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads) {
    out[i] = shared[i % n_values * kThreads + i / n_values];
  }
}

__global__ void __launch_bounds__(kThreads) vote_kernel(const VoteJob job) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (query < job.lists.n_queries) vote_of(job, query, {job.values + query * job.voters.n_values(), 1});
}

}  // namespace

void launch_vote(const VoteJob& job, cudaStream_t stream) {
  if (job.lists.n_queries == 0) return;
  const auto blocks = static_cast<unsigned>((job.lists.n_queries + kThreads - 1) / kThreads);
  const std::int64_t shared = job.voters.n_values() * kThreads * static_cast<std::int64_t>(sizeof(double));
  if (shared <= kSharedBytes) {
    vote_in_shared_kernel<<<blocks, kThreads, static_cast<unsigned>(shared), stream>>>(job);
  } else {
    vote_kernel<<<blocks, kThreads, 0, stream>>>(job);
  }
  stope::cuda::check_launch("voting");
}

}  // namespace stope::knn::cuda
