// Orders rows so that near rows stand together: the leaves of a k-d tree, left to right.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"

namespace stope::knn {

/// Splits the rows of `images` (n x n_columns, row-major, NaN = missing) in the column with the widest spread until at
/// most `leaf` are left. All leaves but the last are full, and each part's halves are as equal as they can be where its
/// first half has a multiple of the largest kBoxFan^i leaves: then every kBoxFan^i leaves lie in one part. Returns row
/// numbers in that order. Missing values come last and ties are split by row number, so the order depends on the values
/// alone. O(n log n).
std::vector<std::int64_t> near_order(const float* images, std::int64_t n, std::int64_t n_columns, std::int64_t leaf,
                                     ThreadPool& pool, const CancelToken& cancel);

}  // namespace stope::knn
