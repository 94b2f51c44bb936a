// One pass over a leaf, compiled once per instruction set (leaf_*.cpp). All of them give the same bits.
//
// This file includes only standard headers without code. Else the linker might keep a function that is compiled for
// AVX-512 for an older CPU.
#pragma once

#include <cstdint>

#include "stats/moments.hpp"

namespace stope::stats {

/// The result for n <= 8192 values that lie one behind the other. Integers are summed in two halves: the low 32 bits,
/// and the rest.
template <class T>
struct LeafSums {
  T min, max;
  /// Set by rows kernels: the only one of the leaf's 32 pieces that has the extreme; -1: not known. A piece is a chain,
  /// or 256 neighbouring rows where only extremes are wanted.
  int min_piece, max_piece;
  std::int64_t missing, zeros;
  std::int64_t integer_low, integer_high;  ///< integers only
  double sum;                              ///< floating-point numbers only
  double pivot_high, pivot_low;            ///< int64: pivot = high * 2^32 + low; else `high` alone
  Moments<double> moments;                 ///< only where they were wanted
};

/// The values that min and max start from.
template <class T>
struct Limits;
template <>
struct Limits<float> {
  static constexpr float kHighest = __builtin_huge_valf(), kLowest = -__builtin_huge_valf();
};
template <>
struct Limits<double> {
  static constexpr double kHighest = __builtin_huge_val(), kLowest = -__builtin_huge_val();
};
template <>
struct Limits<std::int32_t> {
  static constexpr std::int32_t kHighest = INT32_MAX, kLowest = INT32_MIN;
};
template <>
struct Limits<std::int64_t> {
  static constexpr std::int64_t kHighest = INT64_MAX, kLowest = INT64_MIN;
};

enum class Wanted { extremes, moments };

/// Reads x[row * stride + column], n <= 8192 rows of n_columns <= row_columns columns. Each column has one entry of
/// `out`. `scratch` has row_scratch bytes and is aligned to 64.
template <class T>
using RowsKernel = void(const T* x, std::int64_t stride, std::int64_t n, std::int64_t n_columns, Wanted wanted,
                        void* scratch, LeafSums<T>* out);

struct LeafKernels {
  const char* name;
  void (*float32)(const float* x, std::int64_t n, Wanted wanted, LeafSums<float>* out);
  void (*float64)(const double* x, std::int64_t n, Wanted wanted, LeafSums<double>* out);
  void (*int32)(const std::int32_t* x, std::int64_t n, Wanted wanted, LeafSums<std::int32_t>* out);
  void (*int64)(const std::int64_t* x, std::int64_t n, Wanted wanted, LeafSums<std::int64_t>* out);
  RowsKernel<float>* float32_rows;
  RowsKernel<double>* float64_rows;
  RowsKernel<std::int32_t>* int32_rows;
  RowsKernel<std::int64_t>* int64_rows;
  std::int64_t row_columns, row_scratch;
};

namespace scalar {
extern const LeafKernels kLeafKernels;
}
namespace avx2 {
extern const LeafKernels kLeafKernels;
}
namespace avx512 {
extern const LeafKernels kLeafKernels;
}

}  // namespace stope::stats
