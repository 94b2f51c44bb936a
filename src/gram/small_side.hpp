// The matrix of the smaller side of a least-squares problem, decomposed, and its numerical rank. It comes from sums of
// products where the columns are far from dependent, else from a QR factorisation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "gram/numeric_columns.hpp"
#include "stope/buffer.hpp"

namespace stope::gram {

enum class Side { columns, rows };  // M^T M or M M^T

/// What a decomposition is for: Cholesky's is enough for solutions.
enum class Wanted { solutions, eigenvectors };

struct SmallSide {
  std::vector<double> values;  ///< eigenvalues of M^T M + diag(ridge), descending
  Buffer<double> vectors;      ///< vector i at vectors[i * values.size()]
  Buffer<double> factor;       ///< Cholesky's, where there are no eigenvectors
  std::int64_t rank = 0;       ///< values from here on count as zeros
  bool by_qr = false;

  /// Returns x with (M^T M + diag(ridge)) x = g, without the parts of g that count as zeros.
  std::vector<double> solve(const std::vector<double>& g) const;
};

/// Adds `ridge` to the diagonal (empty: nothing; Side::columns: one per column; Side::rows: one in all).
/// `n_known_zeros` eigenvalues are known to be zero (constant columns; the rows' mean). If others are as small, the QR
/// is needed.
SmallSide decompose_small_side(const NumericColumns& matrix, Side side, Wanted wanted, const std::vector<double>& ridge,
                               std::int64_t n_known_zeros, ThreadPool& pool, const RunOptions& run);

/// Bytes that decompose_small_side holds.
std::int64_t small_side_bytes(std::int64_t n_rows, std::int64_t n_columns, int threads);

}  // namespace stope::gram
