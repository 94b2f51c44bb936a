// --feature-weights: numbers in the order of the features, or a file of them.
#pragma once

#include <string>
#include <vector>

#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::cli {

/// The names of the features of `table`, in order.
std::vector<std::string> feature_names(const Table& table);

/// Reads one weight per feature of `table`. `source` is "1,0.5,2", or a CSV file. The file has one row or column of
/// numbers, with or without a header of feature names, or lines `name,weight`; features that are not named weigh 1.
/// Throws invalid_argument for a wrong number of weights, and invalid_file for an unknown name or a word that is no
/// number.
std::vector<double> read_feature_weights(const std::string& source, const Table& table, const RunOptions& run);

}  // namespace stope::cli
