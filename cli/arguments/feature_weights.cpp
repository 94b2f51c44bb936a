// --feature-weights (cli/arguments/feature_weights.hpp).
#include "arguments/feature_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "arguments/value.hpp"
#include "report/text_table.hpp"
#include "stope/error.hpp"
#include "stope/feature_weights.hpp"
#include "stope/io.hpp"

namespace stope::cli {
namespace {

// The numbers of a list; nothing where an item is none, as in the name of a file. Where no such file is there, and some
// items are numbers, it is a list with a mistake.
std::optional<std::vector<double>> from_list(const std::string& text) {
  std::vector<double> weights;
  std::string wrong;
  for (const std::string& item : split_list(text, "--feature-weights")) {
    double value = 0;
    const auto [end, status] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (status == std::errc() && end == item.data() + item.size()) {
      weights.push_back(value);
    } else if (wrong.empty()) {
      wrong = "'" + item + "'";
    }
  }
  if (wrong.empty()) return weights;
  if (!weights.empty() && !std::filesystem::exists(text)) {
    throw Error(ErrorCode::invalid_argument,
                "--feature-weights: " + wrong + " is not a number, and no file is called '" + text + "'");
  }
  return std::nullopt;
}

}  // namespace

std::vector<double> weights_of(const std::string& source, const Table& table, const RunOptions& run) {
  const std::optional<std::vector<double>> list = from_list(source);
  const std::vector<double> weights = list ? *list : read_feature_weights(source, table, run);
  const std::size_t n_features = table.features().size();
  if (weights.size() != n_features) {
    throw Error(ErrorCode::invalid_argument, "--feature-weights gives " + counted(std::ssize(weights), "weight") +
                                                 " for " + counted(static_cast<std::int64_t>(n_features), "feature"));
  }
  for (std::size_t i = 0; i < n_features; ++i) {
    if (weights[i] >= 0.0 && std::isfinite(weights[i])) continue;
    const auto column = static_cast<std::size_t>(table.features()[i]);
    throw Error(ErrorCode::invalid_argument, fmt::format("--feature-weights: the weight of '{}' is {}; weights are "
                                                         "finite and >= 0",
                                                         table.columns[column].name, weights[i]));
  }
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0.0; })) {
    throw Error(ErrorCode::invalid_argument, "--feature-weights: every weight is 0, which leaves no feature");
  }
  return weights;
}

}  // namespace stope::cli
