// The inner loops over rows of an array where they lie: their values as products want them, and sums down the columns
// (base/row_sums.hpp). They are compiled once per instruction set. Each gives the bits of column_kernels.hpp for values
// that are all finite.
#pragma once

#include <cstdint>

namespace stope::gram {

/// Some rows, of the columns that are wanted: row r begins at first + r * stride.
template <class T>
struct RowBlock {
  const T* first;
  std::int64_t stride, n_rows, n_columns;
};

/// A value counts as (value - minus) * times; each has one number per column.
struct Moves {
  const double *minus, *times;
};

/// Sums, lowest and highest values of columns so far.
struct RunningExtents {
  double *sum, *low, *high;
};

/// Deviations are (value - mean) * half * rest, one number of each per column.
struct RunningDeviations {
  const double *mean, *half, *rest;
};

template <class T>
struct RowKernelsOf {
  /// Writes the values of column c in row r to out[r * out_stride + c].
  void (*by_rows)(const RowBlock<T>& rows, const Moves& moves, double* out, std::int64_t out_stride);
  /// The same as tiles of 16 columns: to out[c / 16 * tile_stride + r * 16 + c % 16]. Zeros fill the last tile.
  void (*tiles)(const RowBlock<T>& rows, const Moves& moves, double* out, std::int64_t tile_stride);
  /// The same with the rows side by side: to out[c * out_stride + r]. As many columns as follow are prefetched.
  void (*by_columns)(const RowBlock<T>& rows, const Moves& moves, double* out, std::int64_t out_stride);
  /// The same without moving values: to out[c * out_stride + r].
  void (*turn)(const RowBlock<T>& rows, double* out, std::int64_t out_stride);
  /// Adds rows in their order: sum[c] += value. A value that is not finite leaves the sum not finite.
  void (*sums)(const RowBlock<T>& rows, const RunningExtents& to);
  /// Adds squared deviations in row order: sum[c] += d * d.
  void (*squares)(const RowBlock<T>& rows, const RunningDeviations& of, double* sum);
};

struct RowKernels {
  RowKernelsOf<float> of_float;
  RowKernelsOf<double> of_double;

  template <class T>
  const RowKernelsOf<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return of_float;
    } else {
      return of_double;
    }
  }
};

/// The fastest ones that this CPU runs.
const RowKernels& row_kernels();

/// All that this CPU runs, for tests: at most three, the portable ones first.
int all_row_kernels(const RowKernels* (&out)[3]);

namespace scalar {
extern const RowKernels kRowKernels;
}
namespace avx2 {
extern const RowKernels kRowKernels;
}
namespace avx512 {
extern const RowKernels kRowKernels;
}

}  // namespace stope::gram
