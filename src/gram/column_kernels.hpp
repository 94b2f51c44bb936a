// The inner loops over columns of a table: their values side by side as products want them, and sums of leaves of rows
// (base/row_sums.hpp). They are compiled once per instruction set, and each gives the same bits.
#pragma once

#include <cstdint>

namespace stope::gram {

/// What becomes of a value: (value - minus) * times, or `missing` where that is NaN. Each has one number per column.
struct Terms {
  const double *minus, *times, *missing;
};

/// Leaves that are summed side by side: of several columns, or of neighbouring rows of one.
inline constexpr int kLeavesAtOnce = 16;

template <class T>
struct Leaves {
  const T* values[kLeavesAtOnce];
  const double* weights[kLeavesAtOnce];  ///< one per value, or all null: ones
  int n_leaves;
  std::int64_t n_rows;  ///< of each
  std::int64_t ahead;   ///< what lies that many values behind each is prefetched
};

/// Missing values are left out, and so are values of weight 0.
struct LeafSums {
  double sum[kLeavesAtOnce], weight[kLeavesAtOnce];  ///< of weight * value, and of the weights
  double low[kLeavesAtOnce], high[kLeavesAtOnce];    ///< +-infinity where there is no value
  double n_present[kLeavesAtOnce];
};

/// Deviations are (value - mean) * half * rest.
struct Deviations {
  double mean[kLeavesAtOnce], half[kLeavesAtOnce], rest[kLeavesAtOnce];
};

template <class T>
struct ColumnKernelsOf {
  /// Writes rows [begin, end) of n columns with the columns side by side: row r of column c goes to
  /// out[(r - begin) * stride + c]. Row r is multiplied by row_factor[r], if that is not null. The end - begin rows
  /// that follow are prefetched: they are next.
  void (*by_rows)(const T* const* columns, std::int64_t n, std::int64_t begin, std::int64_t end, const Terms& terms,
                  const double* row_factor, double* out, std::int64_t stride);
  /// The same with the rows side by side: to out[c * stride + r - begin].
  void (*by_columns)(const T* const* columns, std::int64_t n, std::int64_t begin, std::int64_t end, const Terms& terms,
                     const double* row_factor, double* out, std::int64_t stride);
  /// Adds the products of those rows with x, column after column: sums[r - begin] =
  /// fma(value, x[c], sums[r - begin]).
  void (*add_products)(const T* const* columns, std::int64_t n, std::int64_t begin, std::int64_t end,
                       const Terms& terms, const double* x, double* sums);
  /// Sums up each leaf in row order.
  void (*sums)(const Leaves<T>& leaves, LeafSums& out);
  /// Sums up the squared deviations of each leaf in row order: weight * (d * d).
  void (*squares)(const Leaves<T>& leaves, const Deviations& deviations, double* out);
};

struct ColumnKernels {
  ColumnKernelsOf<float> of_float;
  ColumnKernelsOf<double> of_double;

  template <class T>
  const ColumnKernelsOf<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return of_float;
    } else {
      return of_double;
    }
  }
};

/// The fastest ones that this CPU runs.
const ColumnKernels& column_kernels();

/// All that this CPU runs, for tests: at most three, the portable ones first.
int all_column_kernels(const ColumnKernels* (&out)[3]);

namespace scalar {
extern const ColumnKernels kColumnKernels;
}
namespace avx2 {
extern const ColumnKernels kColumnKernels;
}
namespace avx512 {
extern const ColumnKernels kColumnKernels;
}

}  // namespace stope::gram
