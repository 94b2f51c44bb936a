// Weights of features by their names (stope/feature_weights.hpp).
#include "stope/feature_weights.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "base/guarded.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope {

std::vector<std::string> feature_names(const Table& table) try {
  std::vector<std::string> names;
  for (const std::int64_t feature : table.features()) {
    names.push_back(table.columns[static_cast<std::size_t>(feature)].name);
  }
  return names;
} catch (...) {
  rethrow_as_error();
}

std::vector<double> feature_weights(const Table& table,
                                    const std::vector<std::pair<std::string, double>>& by_name) try {
  const std::vector<std::string> names = feature_names(table);
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < names.size(); ++i) place.emplace(names[i], i);
  std::vector<double> weights(names.size(), 1.0);
  std::vector<bool> seen(names.size(), false);
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    const auto& [name, weight] = by_name[i];
    const Place at{.option = "feature_weights", .feature = name, .row = static_cast<std::int64_t>(i)};
    const auto found = place.find(name);
    if (found == place.end()) {
      throw Error(ErrorCode::invalid_argument, "no feature is called '" + name + "'" + did_you_mean(name, names), at);
    }
    if (seen[found->second]) throw Error(ErrorCode::invalid_argument, "'" + name + "' has two weights", at);
    seen[found->second] = true;
    weights[found->second] = weight;
  }
  return weights;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
