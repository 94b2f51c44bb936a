// How many rows each part of a report looks at, so that a report of any table takes about a minute on two cores.
// The figures depend on the table alone, never on the machine: the same table gives the same page everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stope::cli::page {

/// Cells that best cuts are ranked from. A large table keeps its 99 permutations so.
inline constexpr double kRankedCells = 2e6;
/// Cells that a tree sorts.
inline constexpr double kSortedCells = 4e6;
/// Cells that permutations look at, all of them together.
inline constexpr double kPermutedCells = 2e8;
/// Cells that the trees of a cross-validation are grown from, all folds together.
inline constexpr double kFoldCells = 2e7;
/// Differences of cells that searches of nearest neighbours may take.
inline constexpr double kDifferences = 5e10;
/// Products of cells for components and least squares.
inline constexpr double kProducts = 2e10;
/// No part looks at fewer rows than that, if there are as many.
inline constexpr double kFewestRows = 1000;

inline std::int64_t rows_within(double cells, std::int64_t n_features) {
  return static_cast<std::int64_t>(
      std::max(kFewestRows, std::floor(cells / static_cast<double>(std::max<std::int64_t>(1, n_features)))));
}

/// Rows whose pairs take so many differences.
inline std::int64_t rows_of_pairs(std::int64_t n_features) {
  return static_cast<std::int64_t>(std::max(
      kFewestRows, std::floor(std::sqrt(kDifferences / static_cast<double>(std::max<std::int64_t>(1, n_features))))));
}

/// Rows of a table whose decomposition takes n p min(n, p) products.
inline std::int64_t rows_of_products(std::int64_t n_features) {
  const double p = static_cast<double>(std::max<std::int64_t>(1, n_features));
  const double tall = kProducts / (p * p), wide = std::sqrt(kProducts / p);
  return static_cast<std::int64_t>(std::max(kFewestRows, std::floor(tall >= p ? tall : wide)));
}

/// As many permutations of so many cells as the budget allows: 999, 199, 99 or none.
inline std::int64_t permutations_within(double cells) {
  for (const std::int64_t n : {999, 199, 99}) {
    if (cells * static_cast<double>(n) <= kPermutedCells) return n;
  }
  return 0;
}

/// Folds of as many trees as the budget allows: 10, 5 or none.
inline std::int64_t folds_within(double cells) {
  return 10 * cells <= kFoldCells ? 10 : 5 * cells <= kFoldCells ? 5 : 0;
}

}  // namespace stope::cli::page
