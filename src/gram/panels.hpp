// Panels of rows on the CPU: how many rows one has, and its products with vectors. A panel is walked in blocks of
// leaves, whose part of the vectors stays in a cache for all of its rows.
#pragma once

#include <cstdint>

#include "gram/kernels.hpp"
#include "gram/rows.hpp"
#include "stope/buffer.hpp"

namespace stope::gram {

/// What becomes of sums that a panel was added to.
enum class Sums { go_on, are_complete };

class Panels {
 public:
  /// `shift` is padded, or empty.
  Panels(const RowSource& rows, const Kernels& kernels, Buffer<double> shift);

  /// Rows of a panel.
  std::int64_t n_rows() const { return n_rows_; }

  /// Writes the leaves [leaf, end) of each row's product with x to sums[row * n_leaves + leaf]; `values` are n rows.
  void dot(const void* values, std::int64_t n, std::int64_t leaf, std::int64_t end, const double* x,
           double* sums) const;
  /// Adds y[row] times each of n rows to z, columns of the leaves [leaf, end). A fresh z counts as zeros. Complete sums
  /// become results (gram/shape.hpp: finished).
  void add(const void* values, std::int64_t n, std::int64_t leaf, std::int64_t end, const double* y, double* z,
           bool fresh, Sums then) const;

 private:
  Slab slab(const void* values, std::int64_t n, std::int64_t column, std::int64_t n_columns) const;

  const KernelsOf<float>& of_float_;
  const KernelsOf<double>& of_double_;
  const ElementType dtype_;
  const bool in_place_;
  const std::int64_t n_columns_, row_stride_;
  const bool wide_;
  const std::int64_t n_rows_, block_leaves_;
  const Buffer<double> shift_;
};

}  // namespace stope::gram
