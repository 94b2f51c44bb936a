// Ranges of features as the fit uses them (stope/knn_parts.hpp).
#pragma once

#include <string>

#include "stope/knn_parts.hpp"

namespace stope::knn {

/// Returns high - low, 0 where no value is present.
double width_of(const FeatureRange& range);

/// Returns the range of that name; throws invalid_argument if it is not given.
const FeatureRange& range_of(const FeatureRanges& ranges, const std::string& name);

}  // namespace stope::knn
