// The warning that one feature will dominate a distance, because features are measured in units far apart.
#pragma once

#include "stope/knn.hpp"
#include "stope/knn_parts.hpp"
#include "stope/run.hpp"

namespace stope::knn {

/// Warns (warning::kRangesApart) if the range of one numeric feature is more than 100 times that of another. Says
/// nothing where features are weighted, or where the measure scales them itself. Features that are constant or have an
/// infinite value are left out.
void warn_of_ranges(const FeatureRanges& numeric, const KnnOptions& options, const RunOptions& run);

}  // namespace stope::knn
