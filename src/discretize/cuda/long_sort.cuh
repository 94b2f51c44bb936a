// Sorts rows of long columns by their values, all columns at once. It is a radix sort from the lowest eight bits up
// that reads and writes every row once per pass (Adinets and Merrill, Onesweep, 2022). The counts of all digits are
// known before the first pass. A tile must also know how many equal digits earlier tiles of its column have. It looks
// back at what those have published.
#pragma once

#include <cstdint>
#include <type_traits>

#include "discretize/cuda/look_back.cuh"
#include "discretize/value_order.hpp"

namespace stope::discretize::cuda {

inline constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
// Each of the first kDigits threads has a digit. An SM holds two blocks; with more, threads would have too few
// registers.
inline constexpr int kSortThreads = 384, kSortWarps = kSortThreads / 32;

template <class Key>
inline constexpr int kPasses = static_cast<int>(sizeof(Key)) * 8 / kDigitBits;

/// A key and the word of its row stay together from pass to pass: two values that are written side by side fill whole
/// sectors sooner.
template <class Key>
struct alignas(2 * sizeof(Key)) SortItem {
  Key key;
  std::uint32_t word;
};
template <class Key>
inline constexpr int kItems = 128 / sizeof(SortItem<Key>);  // items of a thread; a block has 48 KB
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

/// Returns the digit of a key in a pass.
template <class Key>
__device__ __forceinline__ int digit_of(Key key, int pass) {
  return static_cast<int>(key >> (pass * kDigitBits)) & (kDigits - 1);
}

template <class T>
struct SortPass {
  const T* values;  ///< one column behind the other
  std::int64_t n_rows, n_columns, n_tiles;
  int pass;
  int row_bits;  ///< bits of a word that hold the row; its class stands above them, unless all 32 are taken
  const std::uint32_t* offsets;      ///< [column][pass][digit]: keys with lower digits
  std::uint32_t* published;          ///< [column][tile][digit]; 0 at the start
  std::uint32_t* next;               ///< the tile that is taken next; 0 at the start
  const std::uint8_t* row_classes;   ///< class of each row
  const SortItem<SortKey<T>>* from;  ///< not in the first pass; one column behind the other
  SortItem<SortKey<T>>* to;          ///< not in the last pass
  SortKey<T>* keys;                  ///< the last pass writes them: columns key_stride apart
  std::int64_t key_stride;
  std::uint32_t* rows;  ///< columns stride apart, like classes
  std::uint8_t* classes;
  std::int64_t stride;

  // Where the row takes all bits, the shift leaves nothing of the class. So loads have no branch between them.
  __device__ __forceinline__ std::uint32_t word_of(std::uint32_t row) const {
    return row | static_cast<std::uint32_t>(std::uint64_t{row_classes[row]} << row_bits);
  }
  __device__ __forceinline__ std::uint32_t row_of(std::uint32_t word) const {
    return row_bits == 32 ? word : word & ((1U << row_bits) - 1);
  }
  __device__ __forceinline__ std::uint8_t class_of(std::uint32_t word) const {
    return row_bits == 32 ? row_classes[word] : static_cast<std::uint8_t>(word >> row_bits);
  }
};

/// Threads of a block that counts digits, and how many counters a block has for each digit. The fewer lanes share a
/// counter, the less they wait for each other.
inline constexpr int kDigitThreads = 1024;
template <class Key>
inline constexpr int kPlaces = 64 / kPasses<Key>;
template <class Key>
inline constexpr int kDigitWords = kPasses<Key> * kDigits * kPlaces<Key>;

/// counts[column][pass][digit] for all passes; 0 at the start. Blocks: parts of a column, columns. Shared memory:
/// kDigitWords.
template <class T>
__global__ void __launch_bounds__(kDigitThreads)
    digits_kernel(const T* values, std::int64_t n_rows, std::int64_t part_rows, std::int64_t n_parts,
                  std::uint32_t* counts) {
  using Key = SortKey<T>;
  constexpr int kN = kPasses<Key>, n_places = kPlaces<Key>, thread_words = kDigitWords<Key> / 4 / kDigitThreads;
  extern __shared__ __align__(16) std::uint64_t memory[];
  auto* const mine = reinterpret_cast<std::uint32_t*>(memory);
  const int thread = static_cast<int>(threadIdx.x), place = thread % n_places;
#pragma unroll
  for (int i = 0; i < thread_words; ++i) reinterpret_cast<uint4*>(mine)[thread + i * kDigitThreads] = {};
  __syncthreads();
  const std::int64_t column = blockIdx.x / n_parts, begin = blockIdx.x % n_parts * part_rows;
  const std::int64_t end = begin + part_rows < n_rows ? begin + part_rows : n_rows;
#pragma unroll 4
  for (std::int64_t row = begin + thread; row < end; row += kDigitThreads) {
    const Key key = sort_key(values[column * n_rows + row]);
#pragma unroll
    for (int pass = 0; pass < kN; ++pass) {
      atomicAdd(mine + (pass * kDigits + digit_of(key, pass)) * n_places + place, 1U);
    }
  }
  __syncthreads();
  for (int i = thread; i < kN * kDigits; i += kDigitThreads) {
    std::uint32_t n = 0;
#pragma unroll
    // Threads start in different banks.
    for (int j = 0; j < n_places; ++j) n += mine[i * n_places + (j + place) % n_places];
    if (n > 0) atomicAdd(counts + column * kN * kDigits + i, n);
  }
}

/// Returns the sum of what the threads in front of this one have. `warp_sums`: kSortWarps words. All threads must call
/// it.
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

/// Returns the lanes that have the same digit as this one. From plain C++ the compiler makes seven instructions per
/// bit, half of all instructions of the sort.
__device__ __forceinline__ unsigned same_digit(unsigned digit) {
  unsigned same = 0xffffffffU;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; ++bit) {
    asm volatile(
        "{ .reg .pred is_set; .reg .b32 b; and.b32 b, %1, %2; setp.ne.u32 is_set, b, 0; vote.sync.ballot.b32 b, "
        "is_set, "
        "0xffffffff; @!is_set not.b32 b, b; and.b32 %0, %0, b; }"
        : "+r"(same)
        : "r"(digit), "r"(1U << bit));
  }
  return same;
}

/// The shared memory of a block: the tile's items in their new order, and counts.
template <class Key>
struct SortMemory {
  SortItem<Key> items[kTileRows<Key>];
  std::uint16_t counts[kSortWarps][kDigits];  ///< how often a warp has a digit; then where its items begin
  std::uint32_t bases[kDigits], warp_sums[kSortWarps];
};

/// Writes an item to its place in the sorted column. The last pass writes key, row and class apart.
template <bool kLast, class T>
__device__ __forceinline__ void put_item(const SortPass<T>& job, std::int64_t column, std::uint32_t target,
                                         const SortItem<SortKey<T>>& item) {
  if constexpr (kLast) {
    job.keys[column * job.key_stride + target] = item.key;
    job.rows[column * job.stride + target] = job.row_of(item.word);
    job.classes[column * job.stride + target] = job.class_of(item.word);
  } else {
    job.to[column * job.n_rows + target] = item;
  }
}

/// Sorts one tile of a pass. kFirst: rows come from the values, in their order. kLast: classes are written, too. kFull:
/// the tile has kTileRows rows rather than `n_here`.
template <class T, bool kFirst, bool kLast, bool kFull>
__device__ __forceinline__ void sort_tile(const SortPass<T>& job, std::int64_t column, std::int64_t tile, int n_here,
                                          SortMemory<SortKey<T>>& shared) {
  using Key = SortKey<T>;
  constexpr int n = kItems<Key>;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  // The order of warp, step and lane is the column's order of the items.
  const int first_item = warp * (32 * n) + lane, n_own = n_here - first_item;  // item i exists if i * 32 < n_own
  const std::int64_t first = tile * kTileRows<Key> + first_item, of_column = column * job.n_rows;
  const auto is_own = [&](int i) { return kFull || i * 32 < n_own; };
  const int shift = job.pass * kDigitBits;
  const auto digit_of_key = [&](Key key) { return static_cast<unsigned>(key >> shift) & (kDigits - 1); };
  SortItem<Key> own[n];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    own[i] = {};
    if (!is_own(i)) continue;
    if constexpr (kFirst) {
      own[i] = {sort_key(job.values[of_column + first + i * 32]),
                job.word_of(static_cast<std::uint32_t>(first + i * 32))};
    } else {
      own[i] = job.from[of_column + first + i * 32];
    }
  }
  std::uint32_t places[n / 2] = {};  // place among the warp's items with the same digit; two in a word
  std::uint16_t* const warp_counts = shared.counts[warp];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const unsigned digit = digit_of_key(own[i].key);
    unsigned same = same_digit(digit);
    if constexpr (!kFull) same &= __ballot_sync(0xffffffffU, is_own(i));
    const unsigned before = same & ((1U << lane) - 1);
    const std::uint32_t in_front = warp_counts[digit];
    places[i / 2] |= (in_front + static_cast<std::uint32_t>(__popc(before))) << (i % 2 * 16);
    __syncwarp();
    if (before == 0 && is_own(i))
      warp_counts[digit] = static_cast<std::uint16_t>(in_front + static_cast<std::uint32_t>(__popc(same)));
    __syncwarp();
  }
  __syncthreads();
  std::uint32_t of_digit = 0;
  if (thread < kDigits) {
#pragma unroll
    for (int w = 0; w < kSortWarps; ++w) {
      of_digit += shared.counts[w][thread];
    }
  }
  volatile std::uint32_t* const published = job.published + column * job.n_tiles * kDigits + thread;
  if (thread < kDigits) published[tile * kDigits] = of_digit | (tile == 0 ? kUpToHere : kOwn);
  const std::uint32_t in_tile = sum_in_front(of_digit, shared.warp_sums);
  if (thread < kDigits) {
    std::uint32_t sum = in_tile;
#pragma unroll
    for (int w = 0; w < kSortWarps; ++w) {
      const std::uint32_t of_warp = shared.counts[w][thread];
      shared.counts[w][thread] = static_cast<std::uint16_t>(sum);
      sum += of_warp;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < n; ++i) {
    if (is_own(i))
      shared.items[warp_counts[digit_of_key(own[i].key)] + (places[i / 2] >> (i % 2 * 16) & 0xffff)] = own[i];
  }
  if (thread < kDigits) {
    shared.bases[thread] = job.offsets[(column * kPasses<Key> + job.pass) * kDigits + thread] - in_tile +
                           look_back(published, kDigits, tile, of_digit);
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const int at = thread + i * kSortThreads;
    if (!kFull && at >= n_here) continue;
    const SortItem<Key> item = shared.items[at];
    const std::uint32_t target = shared.bases[digit_of_key(item.key)] + static_cast<std::uint32_t>(at);
    put_item<kLast>(job, column, target, item);
  }
}

/// Shared memory: a SortMemory.
template <class T, bool kFirst, bool kLast>
__global__ void __launch_bounds__(kSortThreads, 2) sort_pass_kernel(const __grid_constant__ SortPass<T> job) {
  using Key = SortKey<T>;
  extern __shared__ __align__(16) std::uint64_t memory[];
  auto& shared = *reinterpret_cast<SortMemory<Key>*>(memory);
  for (int i = static_cast<int>(threadIdx.x); i < kSortWarps * kDigits; i += kSortThreads) {
    shared.counts[i / kDigits][i % kDigits] = 0;
  }
  const TakenTile taken(job.next, job.n_columns);
  const std::int64_t n_here = job.n_rows - taken.tile * kTileRows<Key>;
  if (n_here >= kTileRows<Key>) {
    sort_tile<T, kFirst, kLast, true>(job, taken.column, taken.tile, static_cast<int>(kTileRows<Key>), shared);
  } else {
    sort_tile<T, kFirst, kLast, false>(job, taken.column, taken.tile, static_cast<int>(n_here), shared);
  }
}

}  // namespace stope::discretize::cuda
