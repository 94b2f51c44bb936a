// --feature-weights: numbers in the order of the features, or a file of them.
#pragma once

#include <string>
#include <vector>

#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::cli {

/// One weight per feature of `table`. `source` is "1,0.5,2", or a file as read_feature_weights() takes it. Throws
/// invalid_argument for a wrong number of weights.
std::vector<double> weights_of(const std::string& source, const Table& table, const RunOptions& run);

}  // namespace stope::cli
