// A pass counts how often each byte occurs in every tile, adds the counts up, and moves the pairs to their places.
#include "device/cuda/check.hpp"
#include "knn/cuda/boxes/pair_sort.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kDigits = 256, kThreads = 256, kWarps = kThreads / 32;
constexpr int kPairsPerThread = 16, kTile = kThreads * kPairsPerThread, kPerWarp = 32 * kPairsPerThread;
static_assert(kThreads == kDigits, "a thread has one digit");

__device__ __forceinline__ int digit_of(std::uint64_t key, int shift) {
  return static_cast<int>(key >> shift) & (kDigits - 1);
}

// Returns the sum of the values of the block's threads before this one; `total` becomes that of all.
__device__ std::uint32_t sum_before(std::uint32_t value, std::uint32_t& total) {
  __shared__ std::uint32_t warp_sums[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  std::uint32_t sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t before = __shfl_up_sync(0xffffffffU, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();  // all sums of warps are written
  std::uint32_t before = sum - value;
  total = 0;
  for (int w = 0; w < kWarps; ++w) {
    before += w < warp ? warp_sums[w] : 0;
    total += warp_sums[w];
  }
  __syncthreads();  // all sums are read: the next call may overwrite them
  return before;
}

// counts[digit * tiles + tile]
__global__ void __launch_bounds__(kThreads)
    count_kernel(const std::uint64_t* keys, std::int64_t n, int shift, std::uint32_t* counts) {
  __shared__ std::uint32_t sums[kDigits];
  sums[threadIdx.x] = 0;
  __syncthreads();  // all sums are 0
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kTile;
  for (int i = 0; i < kPairsPerThread; ++i) {
    const std::int64_t at = begin + i * kThreads + threadIdx.x;
    if (at < n) atomicAdd(&sums[digit_of(keys[at], shift)], 1U);
  }
  __syncthreads();  // everything is counted
  counts[static_cast<std::int64_t>(threadIdx.x) * gridDim.x + blockIdx.x] = sums[threadIdx.x];
}

// One block a digit: its counts become the number of its pairs in the tiles before.
__global__ void __launch_bounds__(kThreads) add_up_kernel(std::uint32_t* counts, int n_tiles, std::uint32_t* totals) {
  std::uint32_t* const mine = counts + static_cast<std::int64_t>(blockIdx.x) * n_tiles;
  std::uint32_t base = 0;
  for (int begin = 0; begin < n_tiles; begin += kThreads) {
    const int at = begin + static_cast<int>(threadIdx.x);
    std::uint32_t total = 0;
    const std::uint32_t before = sum_before(at < n_tiles ? mine[at] : 0, total);
    if (at < n_tiles) mine[at] = base + before;
    base += total;
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = base;
}

// A warp has consecutive pairs of the tile, so that those of one digit keep their order.
__global__ void __launch_bounds__(kThreads)
    move_kernel(const std::uint64_t* keys, const std::int32_t* values, std::int64_t n, int shift,
                const std::uint32_t* counts, const std::uint32_t* totals, std::uint64_t* to_keys,
                std::int32_t* to_values) {
  __shared__ std::uint32_t places[kWarps][kDigits];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int w = 0; w < kWarps; ++w) places[w][threadIdx.x] = 0;
  __syncthreads();  // all places are 0
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kTile + warp * kPerWarp;
  std::uint64_t mine[kPairsPerThread];
#pragma unroll
  for (int i = 0; i < kPairsPerThread; ++i) {
    const std::int64_t at = begin + i * 32 + lane;
    mine[i] = at < n ? keys[at] : 0;
    if (at < n) atomicAdd(&places[warp][digit_of(mine[i], shift)], 1U);
  }
  __syncthreads();  // everything is counted
  std::uint32_t total = 0;
  std::uint32_t place =
      sum_before(totals[threadIdx.x], total) + counts[static_cast<std::int64_t>(threadIdx.x) * gridDim.x + blockIdx.x];
  for (int w = 0; w < kWarps; ++w) {
    const std::uint32_t count = places[w][threadIdx.x];
    places[w][threadIdx.x] = place;
    place += count;
  }
  __syncthreads();  // every warp knows its places
#pragma unroll
  for (int i = 0; i < kPairsPerThread; ++i) {
    const std::int64_t at = begin + i * 32 + lane;
    const bool there = at < n;
    const int digit = there ? digit_of(mine[i], shift) : kDigits;
    const unsigned same = __match_any_sync(0xffffffffU, digit);
    const unsigned before = same & ((1U << lane) - 1U);
    const std::uint32_t first = there ? places[warp][digit] : 0;
    __syncwarp();  // every lane has read the place
    if (there && before == 0) places[warp][digit] = first + static_cast<std::uint32_t>(__popc(same));
    __syncwarp();  // the next pairs read the new place
    if (!there) continue;
    const std::uint32_t to = first + static_cast<std::uint32_t>(__popc(before));
    to_keys[to] = mine[i];
    to_values[to] = values[at];
  }
}

std::int64_t tiles_of(std::int64_t n) {
  return checked::ceil_div(n, kTile);
}

}  // namespace

PairSort::PairSort(std::int64_t most)
    : keys_{stope::cuda::DeviceBuffer<std::uint64_t>(most), stope::cuda::DeviceBuffer<std::uint64_t>(most)},
      values_{stope::cuda::DeviceBuffer<std::int32_t>(most), stope::cuda::DeviceBuffer<std::int32_t>(most)},
      counts_(checked::mul(tiles_of(most), kDigits)),
      totals_(kDigits) {}

std::int64_t PairSort::bytes(std::int64_t most) {
  return checked::add(checked::mul(most, 24), checked::mul(tiles_of(most) + 1, kDigits * 4));
}

void PairSort::sort(std::int64_t n, int bits, const stope::cuda::Stream& stream) {
  if (n == 0) return;
  const auto n_tiles = static_cast<unsigned>(tiles_of(n));
  for (int shift = 0; shift < bits; shift += 8) {
    count_kernel<<<n_tiles, kThreads, 0, stream.get()>>>(keys(), n, shift, counts_.data());
    stope::cuda::check_launch("counting keys");
    add_up_kernel<<<kDigits, kThreads, 0, stream.get()>>>(counts_.data(), static_cast<int>(n_tiles), totals_.data());
    stope::cuda::check_launch("adding up counts");
    move_kernel<<<n_tiles, kThreads, 0, stream.get()>>>(keys(), values(), n, shift, counts_.data(), totals_.data(),
                                                        keys_[1 - now_].data(), values_[1 - now_].data());
    stope::cuda::check_launch("sorting keys");
    now_ = 1 - now_;
  }
}

}  // namespace stope::knn::cuda
