// The value that donors give: a mean, a median or the winner of a vote.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stope/impute.hpp"

namespace stope::impute {

/// Room that one thread needs again and again.
struct ValueScratch {
  std::vector<double> weights = {};  ///< of the last value's donors
  double total = 0.0;                ///< their sum
  std::vector<std::int64_t> order = {};
};

/// Returns the value of a training column that its donors give: a number or a code. NaN where no donor has a weight,
/// and where infinities of both signs meet. Throws invalid_argument for a negative distance under
/// VoteWeights::distance.
double value_of(const Column& column, std::span<const std::int64_t> donors, std::span<const double> distances,
                const ImputeOptions& options, ValueScratch& scratch);

}  // namespace stope::impute
