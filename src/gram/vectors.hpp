// Vectors along the columns as the kernels want them, and the checks that every back end makes.
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

/// Throws invalid_argument unless shift and scale are empty or one finite number a column.
void check_options(const GramOptions& options, std::int64_t n_columns);
/// Throws invalid_argument unless `vector` has n_vectors times `wanted` numbers and n_vectors is 1 to kMostVectors.
void check_vector(const char* name, std::size_t size, std::int64_t wanted, std::int64_t n_vectors);

/// A copy of each vector, padded with zeros and multiplied by `scale` where that is not empty.
Buffer<double> padded_copy(std::span<const double> x, std::int64_t n_columns, std::span<const double> scale);

/// The sums over the groups of rows (gram/shape.hpp) of one or more vectors as they become complete: the aligned tree
/// over whole blocks of 2^k groups that arrive in order, in memory for one block a level.
class GroupTree {
 public:
  /// Sums of `size` numbers.
  explicit GroupTree(std::int64_t size) : size_(size) {}
  /// What it holds at most, in vectors of `size`, for n blocks.
  static std::int64_t most_vectors(std::int64_t n_blocks);
  void push(const double* sums);
  /// The root; at least one block was pushed.
  const double* finish();

 private:
  void merge();

  std::int64_t size_;
  std::int64_t n_pushed_ = 0;
  std::vector<Buffer<double>> levels_;  // complete subtrees, the largest first
};

}  // namespace stope::gram
