// Weights of features by their names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// The names of the features of `table`, in their order.
std::vector<std::string> feature_names(const Table& table);

/// One weight per feature of `table`, in their order, as KnnOptions takes them; a feature without a name here weighs 1.
/// Throws invalid_argument for a name that is no feature and for one that occurs twice; Error::row() is the place of
/// the name in the list.
std::vector<double> feature_weights(const Table& table, const std::vector<std::pair<std::string, double>>& by_name);

}  // namespace stope
#pragma GCC visibility pop
