// The matrix of the smaller side of a least-squares problem, decomposed: eigenvalues, eigenvectors and the numerical
// rank. It comes from sums of products where the columns are far from dependent, else from a QR factorisation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "gram/numeric_columns.hpp"
#include "stope/buffer.hpp"

namespace stope::gram {

enum class Side { columns, rows };  // M^T M or M M^T

struct SmallSide {
  std::vector<double> values;  ///< eigenvalues of M^T M + diag(ridge), descending
  Buffer<double> vectors;      ///< vector i at vectors[i * values.size()]
  std::int64_t rank = 0;       ///< values from here on count as zeros
  bool by_qr = false;
};

/// Adds `ridge` to the diagonal (empty: nothing; Side::columns: one per column; Side::rows: one in all).
/// `n_known_zeros` eigenvalues are known to be zero (constant columns; the rows' mean). If others are as small, the QR
/// is needed.
SmallSide decompose_small_side(const NumericColumns& matrix, Side side, const std::vector<double>& ridge,
                               std::int64_t n_known_zeros, ThreadPool& pool, const RunOptions& run);

/// Bytes that decompose_small_side holds.
std::int64_t small_side_bytes(std::int64_t n_rows, std::int64_t n_columns, int threads);

}  // namespace stope::gram
