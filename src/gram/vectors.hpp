// Vectors along the columns in the form that kernels want, and the checks that every back end makes.
#pragma once

#include <cstdint>
#include <span>

#include "gram/kernels.hpp"
#include "gram/rows.hpp"
#include "stope/buffer.hpp"

namespace stope::gram {

/// Elements from one padded vector along the columns to the next.
constexpr std::int64_t padded(std::int64_t n_columns) {
  return (n_columns + kPadding - 1) / kPadding * kPadding;
}

/// Throws invalid_argument unless shift and scale are empty or have one finite number per column.
void check_options(const GramOptions& options, std::int64_t n_columns);
/// Throws invalid_argument unless `vector` has n_vectors times `wanted` numbers and n_vectors is 1 to kMostVectors.
void check_vector(const char* name, std::size_t size, std::int64_t wanted, std::int64_t n_vectors);

/// Copies each vector, padded with zeros and multiplied by `scale` unless that is empty.
Buffer<double> padded_copy(std::span<const double> x, std::int64_t n_columns, std::span<const double> scale);

/// Adds the groups of rows (gram/shape.hpp) of one or more vectors as they become complete. It is the aligned tree over
/// whole blocks of 2^k groups that arrive in order, and holds one block per level.
class GroupTree {
 public:
  /// Each sum has `size` numbers.
  explicit GroupTree(std::int64_t size) : size_(size) {}
  /// The most it holds for n blocks, in vectors of `size`.
  static std::int64_t most_vectors(std::int64_t n_blocks);
  void push(const double* sums);
  /// Returns the root; at least one block must have been pushed.
  const double* finish();

 private:
  void merge();

  std::int64_t size_;
  std::int64_t n_pushed_ = 0;
  std::vector<Buffer<double>> levels_;  // complete subtrees, the largest first
};

}  // namespace stope::gram
