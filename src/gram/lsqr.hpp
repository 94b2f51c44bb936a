// LSQR of Paige and Saunders: min |b - A x| where A can only be multiplied.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stope/run.hpp"

namespace stope::gram {

struct LsqrProblem {
  std::int64_t n_rows = 0, n_columns = 0;
  std::function<void(const std::vector<double>& x, std::vector<double>& y)> multiply;             ///< y = A x
  std::function<void(const std::vector<double>& y, std::vector<double>& x)> multiply_transposed;  ///< x = A^T y
};

struct LsqrResult {
  std::vector<double> x;
  std::int64_t steps = 0;
  double angle = 0.0;  ///< |A^T r| / (|A| |r|), or |r| / |b| if that is below the tolerance
  bool converged = false;
};

/// Starts from zero, so that x stays in the range of A^T, which gives the solution of least norm. Stops when |A^T r| <=
/// tolerance |A| |r|, or |r| <= tolerance |b|.
LsqrResult lsqr(const LsqrProblem& problem, const std::vector<double>& b, double tolerance, std::int64_t max_steps,
                const RunOptions& run);

}  // namespace stope::gram
