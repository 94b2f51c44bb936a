// Puts rows of few columns into the order of near rows (near_order.hpp) by moving them: every split reads and writes a
// part from front to back, in vectors.
#pragma once

#include <cstdint>

#include "base/thread_pool.hpp"
#include "knn/filter/split/split.hpp"
#include "stope/buffer.hpp"

namespace stope::knn {

/// Rows as numbers, array by array: the keys of each column (key_of), then a number that the caller gives each row.
class MovedRows {
 public:
  /// Rows of more columns are cheaper to leave where they are.
  static constexpr std::int64_t kMostColumns = 8;

  MovedRows(std::int64_t n, std::int64_t n_columns);

  std::int64_t n() const { return n_; }
  std::int64_t n_columns() const { return n_columns_; }
  std::int32_t* keys(std::int64_t column) { return numbers_.data() + column * stride_; }
  const std::int32_t* keys(std::int64_t column) const { return numbers_.data() + column * stride_; }
  std::int32_t* tags() { return keys(n_columns_); }
  const std::int32_t* tags() const { return keys(n_columns_); }

  /// Moves the rows into the order of near_order().
  void order(std::int64_t leaf, const SplitKernels& kernels, ThreadPool& pool, const CancelToken& cancel);

 private:
  std::int64_t n_, n_columns_, stride_;
  Buffer<std::int32_t> numbers_, spare_;
};

}  // namespace stope::knn
