// Sorts columns of up to 1024 rows. A warp sorts a column in its registers, by words of 32 bits: the highest bits of a
// value's code and, below them, the row. These bits nearly always decide. Where they give another order than the whole
// codes, the column is sorted once more, digit by digit from the lowest.
#pragma once

#include <cstdint>

#include "discretize/cuda/codes.cuh"
#include "discretize/cuda/warp_reduce.cuh"
#include "discretize/cuda/warp_sort.cuh"
#include "tree/cuda/short_tree.hpp"

namespace stope::tree::cuda {

template <class T>
using CodeOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
inline constexpr int kOrderWarps = sizeof(T) == 8 ? 4 : 8;  // warps of a block: as many as fit 48 KB of shared memory

/// Computes the codes of rows i * 32 + lane, and returns the highest.
template <class T, int n>
__device__ __forceinline__ CodeOf<T> codes_of(const T* x, int n_rows, int lane, CodeOf<T> (&codes)[n]) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    std::uint32_t highest = 0;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      codes[i] = static_cast<std::uint32_t>(x[min(i * 32 + lane, n_rows - 1)]);
      highest = max(highest, codes[i]);
    }
    return discretize::cuda::reduce_max(highest);
  } else {
    typename discretize::cuda::KeyOf<T>::Signed keys[n];
    discretize::cuda::KeyRange<T> range;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      keys[i] = discretize::cuda::signed_key(x[min(i * 32 + lane, n_rows - 1)]);
      range.add(keys[i]);
    }
    discretize::cuda::reduce(range);
    const discretize::cuda::Codes<T> coded(range);
#pragma unroll
    for (int i = 0; i < n; ++i) codes[i] = coded.code(keys[i]);
    return coded.highest();
  }
}

__device__ __forceinline__ int bits_of(std::uint32_t number) {
  return 32 - __clz(static_cast<int>(number));
}
__device__ __forceinline__ int bits_of(std::uint64_t number) {
  return 64 - __clzll(static_cast<long long>(number));
}

/// Sorts one column. `codes` and `rows` are shared memory that this warp alone uses. In the end `rows` has the rows in
/// order, with n_rows in the places that are left. `codes` holds the codes at first, and in the end the words of
/// changes (ShortOrders::changes).
template <class T, int n>
__device__ __forceinline__ void sort_column(const T* x, int n_rows, int lane, CodeOf<T>* codes, std::uint16_t* rows) {
  using Code = CodeOf<T>;
  constexpr unsigned kAll = 0xffffffffU;
  constexpr int kRowBits = n <= 8 ? 8 : 10, kDigitBits = 32 - kRowBits;
  constexpr std::uint32_t kRow = (1U << kRowBits) - 1, kDigit = (1U << kDigitBits) - 1;
  Code sorted[n];
  const int bits = bits_of(codes_of<T, n>(x, n_rows, lane, sorted));
#pragma unroll
  for (int i = 0; i < n; ++i) {
    codes[i * 32 + lane] = sorted[i];
    rows[i * 32 + lane] = static_cast<std::uint16_t>(i * 32 + lane);
  }
  __syncwarp();
  Code next = 0;
#pragma unroll 1
  for (int step = 0;; ++step) {  // 0: by the highest bits; 1, 2 ...: by digits, starting from the order so far
    const int shift = step == 0 ? max(bits - kDigitBits, 0) : (step - 1) * kDigitBits;
    std::uint32_t words[n];
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const int position = i * 32 + lane;
      const auto digit = static_cast<std::uint32_t>(codes[rows[position]] >> shift) & kDigit;
      words[i] = position < n_rows ? digit << kRowBits | static_cast<std::uint32_t>(position) : ~0U;
    }
    discretize::cuda::sort_warp(words, lane);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      words[i] = lane * n + i < n_rows ? rows[words[i] & kRow] : static_cast<std::uint32_t>(n_rows);
      sorted[i] = codes[words[i]];
    }
    next = __shfl_down_sync(kAll, sorted[0], 1);
    bool is_lower = false;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      is_lower |= (lane * n + i + 1 < n_rows) & ((i + 1 < n ? sorted[(i + 1) % n] : next) < sorted[i]);
    }
    const bool is_done = step == 0 ? !__any_sync(kAll, is_lower) : step * kDigitBits >= bits;
    __syncwarp();
    if (step > 0 || is_done) {
#pragma unroll
      for (int i = 0; i < n; ++i) rows[lane * n + i] = static_cast<std::uint16_t>(words[i]);
    }
    __syncwarp();
    if (is_done) break;
  }
  std::uint32_t changes = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const bool differs = (lane * n + i + 1 < n_rows) & ((i + 1 < n ? sorted[(i + 1) % n] : next) != sorted[i]);
    changes |= static_cast<std::uint32_t>(differs) << (lane * n + i) % 32;
  }
#pragma unroll
  for (int apart = 1; apart < 32 / n; apart *= 2) changes |= __shfl_xor_sync(kAll, changes, apart);
  if (lane % (32 / n) == 0) reinterpret_cast<std::uint32_t*>(codes)[lane * n / 32] = changes;
}

template <class T, int n>
__global__ void __launch_bounds__(32 * kOrderWarps<T>)
    short_orders_kernel(const T* values, std::int64_t n_columns, const ShortOrders to, std::int64_t first) {
  constexpr int kWarps = kOrderWarps<T>, kThreads = 32 * kWarps;
  __shared__ CodeOf<T> codes[kWarps][32 * n];
  __shared__ std::uint16_t rows[kWarps][32 * n];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kWarps;
  if (begin + warp < n_columns) {
    sort_column<T, n>(values + (begin + warp) * to.n_rows, to.n_rows, static_cast<int>(threadIdx.x) % 32, codes[warp],
                      rows[warp]);
  }
  __syncthreads();
  // Words of neighbouring columns lie side by side, so the whole block writes them together.
  constexpr int kRows = n <= 8 ? 4 : 2;  // rows in a word
  const int n_words = (to.n_rows + kRows - 1) / kRows;
  for (int i = static_cast<int>(threadIdx.x); i < n_words * kWarps; i += kThreads) {
    const int word = i / kWarps, c = i % kWarps;
    if (begin + c >= n_columns) continue;
    std::uint32_t packed = 0;
#pragma unroll
    for (int j = 0; j < kRows; ++j) packed |= static_cast<std::uint32_t>(rows[c][word * kRows + j]) << (j * 32 / kRows);
    to.rows[word * to.stride + first + begin + c] = packed;
  }
  for (int i = static_cast<int>(threadIdx.x); i < (to.n_rows + 31) / 32 * kWarps; i += kThreads) {
    const int word = i / kWarps, c = i % kWarps;
    if (begin + c >= n_columns) continue;
    to.changes[word * to.stride + first + begin + c] = reinterpret_cast<const std::uint32_t*>(codes[c])[word];
  }
}

}  // namespace stope::tree::cuda
