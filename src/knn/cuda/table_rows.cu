// Extremes of columns, and rows gathered: both read every value once, in the order of memory.
#include <algorithm>

#include "device/cuda/check.hpp"
#include "knn/cuda/table_rows.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 256, kWarp = 32;
constexpr std::int64_t kMostBlocks = 4096;

/// The extremes of the present values seen so far.
struct Seen {
  double low = kInfinity, high = -kInfinity;
  std::int32_t missing = 0;

  __device__ void add(double value) {
    low = value < low ? value : low;  // no comparison with NaN holds
    high = value > high ? value : high;
    missing |= is_missing(value) ? 1 : 0;
  }
  __device__ void add(const Seen& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
    missing |= other.missing;
  }
};

/// n_partial is a multiple of the width, so that all values of a thread are of one column.
__global__ void __launch_bounds__(kThreads) partial_extremes_kernel(const ExtremesJob job) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= job.n_partial) return;
  Seen seen;
  for (std::int64_t at = i; at < job.n * job.width; at += job.n_partial) seen.add(job.rows[at]);
  job.partial_low[i] = seen.low;
  job.partial_high[i] = seen.high;
  job.partial_missing[i] = seen.missing;
}

__global__ void __launch_bounds__(kThreads) extremes_kernel(const ExtremesJob job) {
  const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (column >= job.width) return;  // the whole warp
  Seen seen;
  for (std::int64_t i = column + lane * job.width; i < job.n_partial; i += kWarp * job.width) {
    seen.add(Seen{job.partial_low[i], job.partial_high[i], job.partial_missing[i]});
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    seen.add(Seen{__shfl_down_sync(0xffffffffU, seen.low, step), __shfl_down_sync(0xffffffffU, seen.high, step),
                  __shfl_down_sync(0xffffffffU, seen.missing, step)});
  }
  if (lane != 0) return;
  job.low[column] = seen.low;
  job.high[column] = seen.high;
  job.missing[column] = seen.missing;
}

__global__ void __launch_bounds__(kThreads) gather_rows_kernel(const GatherRowsJob job) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < job.m * job.width;
       i += step) {
    job.to[i] = job.rows[job.which[i / job.width] * job.width + i % job.width];
  }
}

unsigned blocks_for(std::int64_t n_threads) {
  return static_cast<unsigned>((n_threads + kThreads - 1) / kThreads);
}

}  // namespace

void launch_extremes(const ExtremesJob& job, cudaStream_t stream) {
  partial_extremes_kernel<<<blocks_for(job.n_partial), kThreads, 0, stream>>>(job);
  stope::cuda::check_launch("finding extremes");
  extremes_kernel<<<blocks_for(job.width * kWarp), kThreads, 0, stream>>>(job);
  stope::cuda::check_launch("finding extremes");
}

void launch_gather_rows(const GatherRowsJob& job, cudaStream_t stream) {
  if (job.m == 0) return;
  const auto blocks = std::min<std::int64_t>(blocks_for(job.m * job.width), kMostBlocks);
  gather_rows_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(job);
  stope::cuda::check_launch("gathering rows");
}

}  // namespace stope::knn::cuda
