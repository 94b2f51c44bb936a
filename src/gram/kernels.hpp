// The inner loops of the gram operator on the CPU, compiled for each instruction set. They use plain arrays only, so
// that no function of the standard library is compiled with instructions that a machine may lack.
#pragma once

#include <cstdint>

namespace stope::gram {

/// Some rows, with their columns from the beginning of a leaf on.
struct Slab {
  const void* values = nullptr;
  std::int64_t row_stride = 0;  ///< elements
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  const double* shift = nullptr;  ///< one per column, subtracted from it, or null
  bool fresh = false;             ///< add() takes z for zeros, whatever is there
  /// What lies that many bytes behind an element is prefetched: by dot() in the first rows, by add() from a row on.
  std::int64_t ahead = 0, dot_ahead_rows = 0, add_ahead_from = INT64_MAX;
};

/// Vectors along columns (x, shift, z) have room for n_columns rounded up to a multiple of this. What lies beyond may
/// be read and written, and is zero in x and shift.
inline constexpr std::int64_t kPadding = 8;

template <class T>
struct KernelsOf {
  /// Computes sums[row * n_leaves(n_columns) + leaf]: the leaves of every row's product with x (gram/shape.hpp).
  void (*dot)(const Slab& slab, const double* x, double* sums);
  /// Computes z[column] += y[row] * a'[row][column], rows in order.
  void (*add)(const Slab& slab, const double* y, double* z);
};

struct Kernels {
  KernelsOf<float> of_float;
  KernelsOf<double> of_double;
  /// Adds n numbers, a multiple of kPadding: to[i] += from[i].
  void (*add_sums)(double* to, const double* from, std::int64_t n);
};

namespace reference {
extern const Kernels kKernels;
}
namespace scalar {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}

}  // namespace stope::gram
