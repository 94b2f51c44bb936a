#include "device/cuda/check.hpp"
#include "knn/cuda/reference/survivors.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 256, kWarp = 32, kWarps = kThreads / kWarp;

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

// One block of threads a query. It counts, reserves that much of the output, and reads again to write. It reads twice
// because a query may keep anything from nothing (most tiles) to everything (the first tile). The place of a query's
// survivors depends on which block came first. Which survivors they are, and their order, does not.
__global__ void __launch_bounds__(kThreads) survivors_kernel(const SurvivorTile tile) {
  __shared__ std::int64_t base;
  const std::int64_t query = blockIdx.x;
  const double* distances = tile.distances + query * tile.n_rows;
  const double threshold = tile.thresholds[query];

  std::int64_t count = 0;
  for (std::int64_t begin = 0; begin < tile.n_rows; begin += kThreads) {
    const std::int64_t row = begin + threadIdx.x;
    count += __syncthreads_count(row < tile.n_rows && keeps(threshold, distances[row]));
  }
  if (threadIdx.x == 0) {
    base = static_cast<std::int64_t>(atomicAdd(tile.total, static_cast<unsigned long long>(count)));
    tile.offsets[query] = base;
    tile.counts[query] = static_cast<std::int32_t>(count);
  }
  if (count == 0) return;
  __syncthreads();  // base is written

  std::int64_t next = base;
  for (std::int64_t begin = 0; begin < tile.n_rows; begin += kThreads) {
    const std::int64_t row = begin + threadIdx.x;
    const double distance = row < tile.n_rows ? distances[row] : 0.0;
    const bool kept = row < tile.n_rows && keeps(threshold, distance);
    int sum = 0;
    const int place = place_of(kept, sum);
    if (kept) {
      tile.kept_distances[next + place] = distance;
      tile.kept_rows[next + place] = static_cast<std::int32_t>(row);
    }
    next += sum;
  }
}

}  // namespace

void launch_survivors(const SurvivorTile& tile, cudaStream_t stream) {
  stope::cuda::check(cudaMemsetAsync(tile.total, 0, sizeof *tile.total, stream), "clearing a counter");
  survivors_kernel<<<static_cast<unsigned>(tile.n_queries), kThreads, 0, stream>>>(tile);
  stope::cuda::check_launch("gathering distances");
}

}  // namespace stope::knn::cuda
