// From the values of one leaf to its part: which kernel reads them, and what its sums mean.
#pragma once

#include <cstdint>
#include <type_traits>

#include "stats/leaf_kernels.hpp"
#include "stats/part.hpp"
#include "stats/source.hpp"

namespace stope::stats {

inline void run_kernel(const LeafKernels& k, const float* x, std::int64_t n, Wanted w, LeafSums<float>& out) {
  k.float32(x, n, w, &out);
}
inline void run_kernel(const LeafKernels& k, const double* x, std::int64_t n, Wanted w, LeafSums<double>& out) {
  k.float64(x, n, w, &out);
}
inline void run_kernel(const LeafKernels& k, const std::int32_t* x, std::int64_t n, Wanted w,
                       LeafSums<std::int32_t>& out) {
  k.int32(x, n, w, &out);
}
inline void run_kernel(const LeafKernels& k, const std::int64_t* x, std::int64_t n, Wanted w,
                       LeafSums<std::int64_t>& out) {
  k.int64(x, n, w, &out);
}

/// Returns the part of one leaf of n rows, the first of which is `row`.
template <class T>
Part<typename WideOf<T>::Type> part_of(const LeafSums<T>& sums, std::int64_t n, std::int64_t row) {
  using Wide = typename WideOf<T>::Type;
  Part<Wide> part;
  part.missing = sums.missing;
  part.count = n - sums.missing;
  part.zeros = sums.zeros;
  part.min = static_cast<Wide>(sums.min);
  part.max = static_cast<Wide>(sums.max);
  // min_row is the leaf's first row, a multiple of kLeafRows, plus the piece that has the extreme, counted from 1.
  // The pass puts the row itself there.
  part.min_row = row + sums.min_piece + 1;
  part.max_row = row + sums.max_piece + 1;
  part.moments = sums.moments;
  if constexpr (std::is_same_v<Wide, double>) {
    part.sum = sums.sum;
    part.pivot = sums.pivot_high;
  } else {
    constexpr std::int64_t kHalf = std::int64_t{1} << 32;
    const auto high = static_cast<std::int64_t>(sums.pivot_high), low = static_cast<std::int64_t>(sums.pivot_low);
    part.pivot = sizeof(T) == 8 ? high * kHalf + low : high;
    // high * 2^32 + low stays below 2^76 in all. WideSum has 128 bits, in two halves that are filled by hand.
    add(part.sum, sums.integer_low);
    add(part.sum, WideSum{sums.integer_high >> 32, static_cast<std::uint64_t>(sums.integer_high) << 32});
  }
  return part;
}

}  // namespace stope::stats
