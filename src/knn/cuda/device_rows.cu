// One thread copies one value, and blocks of threads go on until all is done: both kernels only copy.
#include <algorithm>

#include "device/cuda/check.hpp"
#include "knn/cuda/device_rows.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 4096;

unsigned blocks_for(std::int64_t n) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((n + kThreads - 1) / kThreads, 1, kMostBlocks));
}

template <class Value>
__global__ void __launch_bounds__(kThreads) take_rows_kernel(const TakeRowsJob job) {
  const auto* const values = static_cast<const Value*>(job.from.values);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < job.n * job.width;
       i += step) {
    job.rows[i] = static_cast<double>(values[i / job.width * job.from.stride + i % job.width]);
  }
}

__global__ void __launch_bounds__(kThreads) hand_lists_kernel(const HandListsJob job) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < job.n * job.k; i += step) {
    if (job.uncertified[i / job.k] != 0) continue;
    job.to.distances[i] = job.distances[i];
    job.to.indices[i] = job.rows[i];
  }
}

}  // namespace

void launch_take_rows(const TakeRowsJob& job, cudaStream_t stream) {
  if (job.n == 0) return;
  const unsigned blocks = blocks_for(job.n * job.width);
  if (job.from.is_float != 0) {
    take_rows_kernel<float><<<blocks, kThreads, 0, stream>>>(job);
  } else {
    take_rows_kernel<double><<<blocks, kThreads, 0, stream>>>(job);
  }
  stope::cuda::check_launch("taking the queries' rows");
}

void launch_hand_lists(const HandListsJob& job, cudaStream_t stream) {
  if (job.n == 0) return;
  hand_lists_kernel<<<blocks_for(job.n * job.k), kThreads, 0, stream>>>(job);
  stope::cuda::check_launch("handing the lists on");
}

}  // namespace stope::knn::cuda
