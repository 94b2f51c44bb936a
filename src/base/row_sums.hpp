// Sums over the rows of a table (covariances, their means, sums of weights) in one shape: leaves of 256 rows in row
// order, 16 leaves to a group in order, and the aligned tree of the groups (docs/adr/0026-aligned-covariances.md).
//
// The aligned tree adds neighbours 2i and 2i + 1, then their sums in the same way; one that is left over goes up as it
// is. So rows [4096 * 2^k * i, 4096 * 2^k * (i + 1)) can be summed anywhere: they are one subtree of the whole.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "stope/buffer.hpp"

namespace stope {

inline constexpr std::int64_t kSumLeafRows = 256;
inline constexpr std::int64_t kSumGroupRows = 16 * kSumLeafRows;

/// The aligned tree over arrays of `size` numbers that arrive one by one, in order. It is a binary counter: it holds
/// one array per level.
class SumTree {
 public:
  /// to[i] += from[i] for i < n; kernels have faster ones than the default.
  using Add = void (*)(double* to, const double* from, std::int64_t n);
  explicit SumTree(std::int64_t size, Add add = nullptr);
  /// The most arrays that it holds after n pushes.
  std::int64_t size() const { return size_; }
  static std::int64_t most_levels(std::int64_t n) { return std::bit_width(static_cast<std::uint64_t>(n)); }

  void push(const double* sums);
  /// Returns the root; at least one array must have been pushed. Only clear() may follow.
  const double* finish();
  /// Starts anew and keeps the memory.
  void clear() { n_pushed_ = 0; }

 private:
  std::int64_t size_;
  Add add_;
  std::int64_t n_pushed_ = 0;
  std::vector<Buffer<double>> levels_;  // level i holds a sum of 2^i arrays where bit i of n_pushed_ is set
};

/// Arrays of `size` numbers summed row by row.
class RowSums {
 public:
  explicit RowSums(std::int64_t size);
  /// Add the next row's terms here, then call row_added().
  double* leaf() { return leaf_.data(); }
  void row_added() {
    if (++n_rows_ % kSumLeafRows == 0) leaf_complete();
  }
  /// Returns the sums; zeros where there was no row.
  const double* finish();

 private:
  void leaf_complete();
  void group_complete();

  std::int64_t size_, n_rows_ = 0;
  Buffer<double> leaf_, group_;
  SumTree groups_;
};

/// The sum of term(row) over rows [begin, begin + n), where `begin` is the first row of a subtree.
template <class Term>
double sum_over_rows(std::int64_t begin, std::int64_t n, const Term& term) {
  if (n <= kSumGroupRows) {
    double group = 0.0;
    for (std::int64_t leaf = begin; leaf < begin + n; leaf += kSumLeafRows) {
      double sum = 0.0;
      for (std::int64_t row = leaf, end = std::min(leaf + kSumLeafRows, begin + n); row < end; ++row) sum += term(row);
      group += sum;
    }
    return group;
  }
  const auto n_groups = static_cast<std::uint64_t>((n + kSumGroupRows - 1) / kSumGroupRows);
  const auto first = static_cast<std::int64_t>(std::bit_floor(n_groups - 1)) * kSumGroupRows;
  return sum_over_rows(begin, first, term) + sum_over_rows(begin + first, n - first, term);
}

}  // namespace stope
