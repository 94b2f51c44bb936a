// Prefix sums over tiles in one launch. Blocks go through columns tile by tile; each publishes the count of its tile,
// then the count up to and including it (Merrill and Garland, Single-pass parallel prefix scan with decoupled
// look-back, 2016). Blocks take tiles in order, so those in front are done or at work.
#pragma once

#include <cstdint>

namespace stope::discretize::cuda {

/// A published word is a count and one of these flags; 0: nothing yet.
inline constexpr std::uint32_t kOwn = 1U << 30, kUpToHere = 2U << 30, kCount = kOwn - 1;

/// The column and tile that this block takes. Columns take turns, so that few tiles of a column are at work at a time.
/// `next` must be 0 at the start. All threads must call it.
struct TakenTile {
  std::int64_t column, tile;

  __device__ __forceinline__ TakenTile(std::uint32_t* next, std::int64_t n_columns) {
    __shared__ std::uint32_t taken;
    if (threadIdx.x == 0) taken = atomicAdd(next, 1U);
    __syncthreads();
    column = taken % n_columns;
    tile = taken / n_columns;
  }
};

/// Returns the sum of the tiles in front, for one thread's count. `published` points to this thread's word of tile 0;
/// those of the tiles are `stride` apart. The tile's own count must be published there as kOwn; it becomes kUpToHere.
/// Several words are read at once, because the way to memory takes the time.
__device__ __forceinline__ std::uint32_t look_back(volatile std::uint32_t* published, std::int64_t stride,
                                                   std::int64_t tile, std::uint32_t own) {
  constexpr int kAtOnce = 4;
  std::uint32_t before = 0;
  bool is_done = tile == 0;
  for (std::int64_t other = tile - 1; !is_done;) {
    std::uint32_t found[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) found[i] = published[(other > i ? other - i : 0) * stride];
    bool goes_on = true;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      goes_on = goes_on && !is_done && found[i] != 0;
      if (!goes_on) continue;
      before += found[i] & kCount;
      is_done = (found[i] & kUpToHere) != 0;
      --other;
    }
  }
  published[tile * stride] = (before + own) | kUpToHere;
  return before;
}

/// Like look_back() for one count, computed by a whole warp.
__device__ __forceinline__ std::uint32_t warp_look_back(volatile std::uint32_t* published, std::int64_t tile,
                                                        std::uint32_t own) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t before = 0;
  for (std::int64_t other = tile - 1; other >= 0;) {
    std::uint32_t found = kUpToHere;
    if (other >= lane) found = published[other - lane];
    const unsigned whole = __ballot_sync(0xffffffffU, (found & kUpToHere) != 0),
                   missing = __ballot_sync(0xffffffffU, found == 0);
    const unsigned needed = whole == 0 ? 0xffffffffU : whole ^ (whole - 1);  // lanes up to the first that has kUpToHere
    if ((missing & needed) != 0) continue;
    std::uint32_t sum = (needed >> lane & 1) != 0 ? found & kCount : 0;
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
    before += sum;
    if (whole != 0) break;
    other -= 32;
  }
  if (lane == 0) published[tile] = (before + own) | kUpToHere;
  return before;
}

}  // namespace stope::discretize::cuda
