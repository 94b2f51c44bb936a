#include "device/cuda/check.hpp"
#include "knn/cuda/reference/survivors.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 256, kWarp = 32, kWarps = kThreads / kWarp;
constexpr std::int64_t kChunk = 8 * kThreads;  // rows that a block looks at together

// A threshold of infinity or NaN means that the list is not full or holds NaN: then anything can enter it.
__device__ bool keeps(double threshold, double distance) {
  return distance <= threshold || !(threshold < __builtin_inf());
}

// Returns how many of the block's threads before this one have `flag`; `sum` becomes the number of all that have it.
// Every thread of the block must call it.
__device__ int place_of(bool flag, int& sum) {
  __shared__ int warp_counts[kWarps];
  const unsigned votes = __ballot_sync(0xffffffffu, flag);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  if (lane == 0) warp_counts[warp] = __popc(votes);
  __syncthreads();  // all counts are written
  int before = __popc(votes & ((1u << lane) - 1u));
  sum = 0;
  for (int w = 0; w < kWarps; ++w) {
    before += w < warp ? warp_counts[w] : 0;
    sum += warp_counts[w];
  }
  __syncthreads();  // all counts are read: the next call may overwrite them
  return before;
}

// Returns the sum over the block's threads. Every thread of the block must call it, once in a kernel.
__device__ int sum_of_block(int value) {
  __shared__ int warp_sums[kWarps];
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % kWarp == 0) warp_sums[threadIdx.x / kWarp] = value;
  __syncthreads();  // all sums are written
  int sum = 0;
  for (const int of_warp : warp_sums) sum += of_warp;
  return sum;
}

// One block of threads a query. It counts, reserves that much of the output, and reads again to write. It reads twice
// because a query may keep anything from nothing (most tiles) to everything (the first tile). The second time it passes
// over chunks of rows without survivors: a few queries have tiles of very many rows. The place of a query's survivors
// depends on which block came first. Which survivors they are, and their order, does not.
__global__ void __launch_bounds__(kThreads) survivors_kernel(const SurvivorTile tile) {
  __shared__ std::int64_t base;
  const std::int64_t query = blockIdx.x;
  const double* distances = tile.distances + query * tile.n_rows;
  const double threshold = tile.thresholds[query];

  int own = 0;
  for (std::int64_t row = threadIdx.x; row < tile.n_rows; row += kThreads) {
    own += keeps(threshold, distances[row]) ? 1 : 0;
  }
  const int count = sum_of_block(own);
  if (threadIdx.x == 0) {
    base = static_cast<std::int64_t>(atomicAdd(tile.total, static_cast<unsigned long long>(count)));
    tile.offsets[query] = base;
    tile.counts[query] = count;
  }
  if (count == 0) return;
  __syncthreads();  // base is written

  std::int64_t next = base;
  for (std::int64_t chunk = 0; chunk < tile.n_rows; chunk += kChunk) {
    const std::int64_t end = chunk + kChunk < tile.n_rows ? chunk + kChunk : tile.n_rows;
    bool any = false;
    for (std::int64_t row = chunk + threadIdx.x; row < end; row += kThreads) any |= keeps(threshold, distances[row]);
    if (__syncthreads_or(any) == 0) continue;
    for (std::int64_t begin = chunk; begin < end; begin += kThreads) {
      const std::int64_t row = begin + threadIdx.x;
      const double distance = row < end ? distances[row] : 0.0;
      const bool kept = row < end && keeps(threshold, distance);
      int sum = 0;
      const int place = place_of(kept, sum);
      if (kept) {
        tile.kept_distances[next + place] = distance;
        tile.kept_rows[next + place] = static_cast<std::int32_t>(row);
      }
      next += sum;
    }
  }
}

}  // namespace

void launch_survivors(const SurvivorTile& tile, cudaStream_t stream) {
  stope::cuda::check(cudaMemsetAsync(tile.total, 0, sizeof *tile.total, stream), "clearing a counter");
  survivors_kernel<<<static_cast<unsigned>(tile.n_queries), kThreads, 0, stream>>>(tile);
  stope::cuda::check_launch("gathering distances");
}

}  // namespace stope::knn::cuda
