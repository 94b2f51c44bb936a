// The definition of the sums (gram/shape.hpp), word for word. Every other back end is compared with it.
#include "gram/kernels.hpp"
#include "gram/shape.hpp"

namespace stope::gram::reference {
namespace {

template <class T>
double value_at(const Slab& slab, std::int64_t row, std::int64_t column) {
  const auto value = static_cast<double>(static_cast<const T*>(slab.values)[row * slab.row_stride + column]);
  return slab.shift == nullptr ? value : value - slab.shift[column];
}

template <class T>
double leaf_sum(const Slab& slab, std::int64_t row, std::int64_t begin, std::int64_t end, const double* x) {
  double slots[kSlots] = {};
  for (std::int64_t column = begin; column < end; ++column) {
    double& slot = slots[(column - begin) % kSlots];
    slot = __builtin_fma(value_at<T>(slab, row, column), x[column], slot);
  }
  constexpr std::int64_t kFours = kSlots / 4;
  double fours[kFours];
  for (std::int64_t q = 0; q < kFours; ++q) {
    const double* four = slots + 4 * q;
    fours[q] = (four[0] + four[1]) + (four[2] + four[3]);
  }
  for (std::int64_t half = kFours / 2; half >= 1; half /= 2) {
    for (std::int64_t q = 0; q < half; ++q) fours[q] += fours[q + half];
  }
  return fours[0];
}

template <class T>
void dot(const Slab& slab, const double* x, double* sums) {
  for (std::int64_t row = 0; row < slab.n_rows; ++row) {
    for (std::int64_t begin = 0; begin < slab.n_columns; begin += kLeafColumns) {
      const std::int64_t end = begin + kLeafColumns < slab.n_columns ? begin + kLeafColumns : slab.n_columns;
      *sums++ = leaf_sum<T>(slab, row, begin, end, x);
    }
  }
}

template <class T>
void add(const Slab& slab, const double* y, double* z) {
  for (std::int64_t column = 0; column < slab.n_columns && slab.fresh; ++column) z[column] = 0.0;
  for (std::int64_t row = 0; row < slab.n_rows; ++row) {
    for (std::int64_t column = 0; column < slab.n_columns; ++column) {
      z[column] = __builtin_fma(y[row], value_at<T>(slab, row, column), z[column]);
    }
  }
}

void add_sums(double* to, const double* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

}  // namespace

const Kernels kKernels = {{dot<float>, add<float>}, {dot<double>, add<double>}, add_sums};

}  // namespace stope::gram::reference
