// A warp sorts 32 n words in its registers. In the end lane l has those at positions l n ... l n + n - 1.
//
// Each lane sorts its own words by a network. Then runs of 1, 2, 4, 8 and 16 lanes are merged in pairs. The first step
// of a merge compares a run's words with the other's in reverse, so that every run ascends and all lanes do the same.
// The bitonic sequences that are left are halved across lanes, then in each lane.
#pragma once

#include <cstdint>

namespace stope::discretize::cuda {

template <class Word>
__device__ __forceinline__ void order(Word& a, Word& b) {
  const Word low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}

template <class Word>
__device__ __forceinline__ Word lower_or_higher(Word a, Word b, bool lower) {
  // This is one instruction, which makes the choice, too.
  if constexpr (sizeof(Word) == 4) return lower ? min(a, b) : max(a, b);
  return (b < a) == lower ? b : a;
}

/// Batcher's odd-even merge sort, for any n known at compile time: runs of p are merged, words k apart are compared. It
/// uses templates, because not every compiler unrolls nested loops; words would then lie in memory.
template <int n, int p, int k, class Word>
__device__ __forceinline__ void sort_own_from(Word (&v)[n]) {
  if constexpr (p < n) {
#pragma unroll
    for (int i = k % p; i < n; ++i) {
      if ((i - k % p) / k % 2 == 0 && i + k < n && i / (2 * p) == (i + k) / (2 * p)) order(v[i], v[i + k]);
    }
    if constexpr (k > 1) {
      sort_own_from<n, p, k / 2>(v);
    } else {
      sort_own_from<n, 2 * p, 2 * p>(v);
    }
  }
}
template <int n, class Word>
__device__ __forceinline__ void sort_own(Word (&v)[n]) {
  sort_own_from<n, 1, 1>(v);
}

/// Sorts a bitonic sequence: n / 2 log2(n) comparisons where n is a power of two.
template <int n, class Word>
__device__ __forceinline__ void sort_bitonic(Word (&v)[n]) {
  if constexpr ((n & (n - 1)) != 0) {
    sort_own(v);
  } else {
#pragma unroll
    for (int half = n / 2; half >= 1; half /= 2) {
#pragma unroll
      for (int i = 0; i < n; ++i) {
        if ((i & half) == 0) order(v[i], v[i + half]);
      }
    }
  }
}

template <int n, class Word>
__device__ __forceinline__ void sort_warp(Word (&v)[n], int lane) {
  constexpr unsigned kAll = 0xffffffffU;
  sort_own(v);
#pragma unroll
  for (int run = 1; run < 32; run *= 2) {
    const bool lower = (lane & run) == 0;
    Word other[n];
#pragma unroll
    for (int i = 0; i < n; ++i) other[i] = __shfl_xor_sync(kAll, v[n - 1 - i], 2 * run - 1);
#pragma unroll
    for (int i = 0; i < n; ++i) v[i] = lower_or_higher(v[i], other[i], lower);
#pragma unroll
    for (int apart = run / 2; apart >= 1; apart /= 2) {
      const bool is_low = (lane & apart) == 0;
#pragma unroll
      for (int i = 0; i < n; ++i) {
        v[i] = lower_or_higher(v[i], __shfl_xor_sync(kAll, v[i], apart), is_low);
      }
    }
    sort_bitonic(v);
  }
}

}  // namespace stope::discretize::cuda
