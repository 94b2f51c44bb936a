// Orders rows so that near rows stand together: the leaves of a k-d tree, left to right.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/filter/split/split.hpp"

namespace stope::knn {

/// Splits the rows of `images` (n x n_columns, row-major, NaN = missing) in the column with the widest spread until at
/// most `leaf` are left. All leaves but the last are full, and each part's halves are as equal as they can be where its
/// first half has a multiple of the largest kBoxFan^i leaves: then every kBoxFan^i leaves lie in one part. Returns row
/// numbers in that order. Missing values come last and ties are split by row number, so the order depends on the values
/// alone. O(n log n). Rows of few columns are moved in vectors (moved_rows.hpp).
std::vector<std::int64_t> near_order(const float* images, std::int64_t n, std::int64_t n_columns, std::int64_t leaf,
                                     const SplitKernels& kernels, ThreadPool& pool, const CancelToken& cancel);

/// Does so for any number of columns: rows stay where they are, and their numbers are moved.
std::vector<std::int64_t> near_order_by_number(const float* images, std::int64_t n, std::int64_t n_columns,
                                               std::int64_t leaf, ThreadPool& pool, const CancelToken& cancel);

/// A larger table is ordered in parts of so many rows: their numbers have 31 bits.
inline constexpr std::int64_t kMostRowsOrdered = std::int64_t{1} << 31;

/// Returns how many rows of a part of n go to its first half: as many leaves as to the other, but a multiple of the
/// largest kBoxFan^i below their number.
std::int64_t first_half(std::int64_t n, std::int64_t leaf);

}  // namespace stope::knn
