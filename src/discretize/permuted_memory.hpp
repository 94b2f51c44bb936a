// GPU memory that permutations of the labels take (discretize/cuda/permutations.hpp), for code that must know it in
// advance.
#pragma once

#include <cstdint>

namespace stope::discretize {

/// Permutations that a warp tries at a time where there are two classes: four a lane.
inline constexpr std::int64_t kPermutationsOfWarp = 128;

/// From a column's steps to the next column's: they are read four at a time.
constexpr std::int64_t step_stride(std::int64_t n_rows) {
  return (n_rows + 3) / 4 * 4;
}

/// The labels as the kernels read them: a bit each for two classes, else a byte.
constexpr std::int64_t packed_label_bytes(std::int64_t n_rows, std::int64_t n_classes, std::int64_t n_permutations) {
  const std::int64_t whole = (n_permutations + kPermutationsOfWarp - 1) / kPermutationsOfWarp * kPermutationsOfWarp;
  return n_classes == 2 ? whole / 8 * n_rows : whole * n_rows;
}

/// All memory: labels as they come and as they are read, the highest W of each permutation, the steps and a count of
/// each column.
constexpr std::int64_t permuted_bytes(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_classes,
                                      std::int64_t n_permutations) {
  if (n_permutations == 0) return 0;
  return n_rows * n_permutations + packed_label_bytes(n_rows, n_classes, n_permutations) + 4 * n_permutations +
         4 * (step_stride(n_rows) + 2) * n_columns;
}

}  // namespace stope::discretize
