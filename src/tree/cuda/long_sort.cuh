// Sorts rows of long columns by their values, all columns at once: a radix sort from the lowest eight bits up that
// reads and writes every row once a pass (Adinets and Merrill, Onesweep, 2022). What all digits' counts are is known
// before the first pass; how many equal digits earlier tiles of the same column have, a tile learns by looking back at
// what those have published.
#pragma once

#include <cstdint>
#include <type_traits>

#include "discretize/value_order.hpp"

namespace stope::tree::cuda {

inline constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
inline constexpr int kSortThreads = kDigits, kSortWarps = kSortThreads / 32;  // a thread a digit

template <class Key>
inline constexpr int kPasses = static_cast<int>(sizeof(Key)) * 8 / kDigitBits;
template <class Key>
inline constexpr int kItems = sizeof(Key) == 8 ? 8 : 16;  // of a thread: what fits 48 KB of shared memory
template <class Key>
inline constexpr std::int64_t kTileRows = kSortThreads * kItems<Key>;

template <class T>
using SortKey = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
__device__ __forceinline__ SortKey<T> sort_key(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint32_t>(value);
  } else {
    return discretize::order_key(value);
  }
}

/// A thread's digit of a key.
template <class Key>
__device__ __forceinline__ int digit_of(Key key, int pass) {
  return static_cast<int>(key >> (pass * kDigitBits)) & (kDigits - 1);
}

/// Where the keys and rows of a pass come from, or go to: columns `stride` apart.
template <class Key>
struct SortBuffer {
  Key* keys;
  std::int64_t key_stride;
  std::uint32_t* rows;
  std::int64_t row_stride;
};

/// What has been published of a tile's digit: nothing, how many the tile has, how many there are up to it.
inline constexpr std::uint32_t kOwn = 1U << 30, kUpToHere = 2U << 30, kCount = kOwn - 1;

template <class T>
struct SortPass {
  const T* values;  ///< one column behind the other
  std::int64_t n_rows, n_tiles;
  int pass;
  const std::uint32_t* offsets;  ///< [column][pass][digit]: keys with lower digits
  std::uint32_t* published;      ///< [column][tile][digit]; 0 before
  unsigned long long* next;      ///< the tile that is taken next; 0 before
  SortBuffer<SortKey<T>> from, to;
  const std::uint8_t* row_classes;  ///< of each row
  std::uint8_t* classes;            ///< the last pass puts them in order; columns of to.row_stride
};

/// counts[column][pass][digit] of all passes; 0 before. Blocks: parts of a column, columns.
template <class T>
__global__ void __launch_bounds__(kSortThreads)
    digits_kernel(const T* values, std::int64_t n_rows, std::int64_t part_rows, std::int64_t n_parts,
                  std::uint32_t* counts) {
  constexpr int kN = kPasses<SortKey<T>>;
  __shared__ std::uint32_t mine[kN * kDigits];
  for (int i = static_cast<int>(threadIdx.x); i < kN * kDigits; i += kSortThreads) mine[i] = 0;
  __syncthreads();
  const std::int64_t column = blockIdx.x / n_parts, begin = blockIdx.x % n_parts * part_rows;
  const std::int64_t end = begin + part_rows < n_rows ? begin + part_rows : n_rows;
  for (std::int64_t row = begin + threadIdx.x; row < end; row += kSortThreads) {
    const SortKey<T> key = sort_key(values[column * n_rows + row]);
#pragma unroll
    for (int pass = 0; pass < kN; ++pass) atomicAdd(mine + pass * kDigits + digit_of(key, pass), 1U);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kN * kDigits; i += kSortThreads) {
    if (mine[i] > 0) atomicAdd(counts + column * kN * kDigits + i, mine[i]);
  }
}

/// The sum of what threads in front of this one bring. `warp_sums`: kSortWarps words. By all threads.
__device__ __forceinline__ std::uint32_t sum_in_front(std::uint32_t own, std::uint32_t* warp_sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  std::uint32_t sum = own;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const std::uint32_t o = __shfl_up_sync(0xffffffffU, sum, apart);
    if (lane >= apart) sum += o;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  std::uint32_t before = sum - own;
  for (int w = 0; w < warp; ++w) before += warp_sums[w];
  return before;
}

/// Lanes whose digit is this lane's.
__device__ __forceinline__ unsigned same_digit(int digit) {
  unsigned same = 0xffffffffU;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; ++bit) {
    const bool is_set = (digit >> bit & 1) != 0;
    const unsigned set = __ballot_sync(0xffffffffU, is_set);
    same &= is_set ? set : ~set;
  }
  return same;
}

/// How many of this thread's digit the tiles in front have; publishes what this one has.
__device__ __forceinline__ std::uint32_t look_back(std::uint32_t* column, std::int64_t tile, std::uint32_t own) {
  volatile std::uint32_t* const mine = column + tile * kDigits + threadIdx.x;
  if (tile == 0) {
    *mine = own | kUpToHere;
    return 0;
  }
  *mine = own | kOwn;
  std::uint32_t before = 0;
  for (std::int64_t other = tile - 1;; --other) {
    const volatile std::uint32_t* const there = column + other * kDigits + threadIdx.x;
    std::uint32_t found = *there;
    while (found == 0) found = *there;  // its block runs: tiles are taken in order
    before += found & kCount;
    if ((found & kUpToHere) != 0) break;
  }
  *mine = (before + own) | kUpToHere;
  return before;
}

/// One pass. kFirst: rows come from the values, in their order; kLast: classes go with them.
template <class T, bool kFirst, bool kLast>
__global__ void __launch_bounds__(kSortThreads, 3) sort_pass_kernel(const __grid_constant__ SortPass<T> job) {
  using Key = SortKey<T>;
  constexpr int n = kItems<Key>;
  __shared__ Key keys[kTileRows<Key>];
  __shared__ std::uint32_t rows[kTileRows<Key>];
  __shared__ std::uint32_t counts[kSortWarps][kDigits], bases[kDigits], warp_sums[kSortWarps];
  __shared__ unsigned long long taken;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  if (thread == 0) taken = atomicAdd(job.next, 1ULL);
#pragma unroll
  for (int w = 0; w < kSortWarps; ++w) counts[w][thread] = 0;
  __syncthreads();
  const auto column = static_cast<std::int64_t>(taken) / job.n_tiles,
             tile = static_cast<std::int64_t>(taken) % job.n_tiles;
  const std::int64_t begin = tile * kTileRows<Key>;
  const auto n_here = static_cast<int>(job.n_rows - begin < kTileRows<Key> ? job.n_rows - begin : kTileRows<Key>);
  // Items in the order of warp, step and lane are in the column's order.
  Key own[n];
  std::uint32_t own_row[n];
  std::uint32_t ranks[n / 2] = {};  // among those of the warp with the same digit; two a word
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const int at = warp * (32 * n) + i * 32 + lane;
    const std::int64_t from = begin + (at < n_here ? at : 0);
    if constexpr (kFirst) {
      own[i] = sort_key(job.values[column * job.n_rows + from]);
      own_row[i] = static_cast<std::uint32_t>(from);
    } else {
      own[i] = job.from.keys[column * job.from.key_stride + from];
      own_row[i] = job.from.rows[column * job.from.row_stride + from];
    }
  }
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const bool is_there = warp * (32 * n) + i * 32 + lane < n_here;
    const int digit = digit_of(own[i], job.pass);
    const unsigned same = same_digit(digit) & __ballot_sync(0xffffffffU, is_there);
    const unsigned before = same & ((1U << lane) - 1);
    ranks[i / 2] |= (counts[warp][digit] + static_cast<std::uint32_t>(__popc(before))) << (i % 2 * 16);
    __syncwarp();
    if (is_there && before == 0) counts[warp][digit] += static_cast<std::uint32_t>(__popc(same));
    __syncwarp();
  }
  __syncthreads();
  std::uint32_t of_digit = 0;
#pragma unroll
  for (int w = 0; w < kSortWarps; ++w) {
    const std::uint32_t of_warp = counts[w][thread];
    counts[w][thread] = of_digit;
    of_digit += of_warp;
  }
  const std::uint32_t in_tile = sum_in_front(of_digit, warp_sums);
#pragma unroll
  for (int w = 0; w < kSortWarps; ++w) counts[w][thread] += in_tile;
  const std::uint32_t before = look_back(job.published + column * job.n_tiles * kDigits, tile, of_digit);
  bases[thread] = job.offsets[(column * kPasses<Key> + job.pass) * kDigits + thread] + before - in_tile;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < n; ++i) {
    if (warp * (32 * n) + i * 32 + lane >= n_here) continue;
    const std::uint32_t at = counts[warp][digit_of(own[i], job.pass)] + (ranks[i / 2] >> (i % 2 * 16) & 0xffff);
    keys[at] = own[i];
    rows[at] = own_row[i];
  }
  __syncthreads();
  for (int at = thread; at < n_here; at += kSortThreads) {
    const Key key = keys[at];
    const std::uint32_t row = rows[at];
    const std::int64_t to = static_cast<std::uint32_t>(bases[digit_of(key, job.pass)] + static_cast<std::uint32_t>(at));
    job.to.keys[column * job.to.key_stride + to] = key;
    job.to.rows[column * job.to.row_stride + to] = row;
    if constexpr (kLast) job.classes[column * job.to.row_stride + to] = job.row_classes[row];
  }
}

}  // namespace stope::tree::cuda
