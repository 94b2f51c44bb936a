// Chooses the way of a PCA: the matrix of the smaller side, formed and decomposed, or block Lanczos.
#pragma once

#include <cstdint>
#include <string>

namespace stope::gram {

enum class PcaMethod { covariance, outer, lanczos };

struct PcaShape {
  std::int64_t n_rows, n_columns;
  std::int64_t n_wanted;  ///< components; all of them if a share of the variance is wanted
  bool share;             ///< whether a share of the variance is wanted
};

struct PcaPlan {
  PcaMethod method = PcaMethod::covariance;
  std::string reason;
  std::int64_t bytes = 0;  ///< bytes that it holds besides the table
};

/// Throws out_of_memory with the bytes where neither way fits the budget.
PcaPlan plan_pca(const PcaShape& shape, std::int64_t budget, int threads);

/// Whether so few components are wanted that multiplying a formed matrix some times beats decomposing it whole.
bool few_of_many(const PcaShape& shape);

/// Vectors that block Lanczos multiplies at once.
std::int64_t lanczos_block();

/// Components that block Lanczos looks for first where a share of the variance is wanted.
inline constexpr std::int64_t kFirstOfShare = 16;

}  // namespace stope::gram
