// --feature-weights (cli/arguments/feature_weights.hpp).
#include "arguments/feature_weights.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "arguments/value.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/nearest_name.hpp"

namespace stope::cli {
namespace {

using Cells = std::vector<std::vector<std::string>>;  // by row

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The file's fields as text. They are read without a header: the names in the first row decide whether it is one.
Cells read_cells(const std::string& path, const RunOptions& run) {
  ReadOptions options;
  options.format = format_of(path) == Format::tsv ? Format::tsv : Format::csv;
  options.header = Header::no;
  options.missing = {""};
  const Table table = read_table(path, options, run);
  Cells cells(static_cast<std::size_t>(table.n_rows));
  for (std::size_t row = 0; row < cells.size(); ++row) {
    for (const Column& column : table.columns) {
      const auto at = static_cast<std::int64_t>(row);
      std::string text;
      if (column.missing(at)) {
        text = "";
      } else if (column.nominal()) {
        text = column.values[static_cast<std::size_t>(column.codes()[at])];
      } else {
        append_number(text, column.at(at));
      }
      cells[row].push_back(std::move(text));
    }
  }
  return cells;
}

double weight_of(const std::string& text, const std::string& path, std::size_t line) {
  if (const std::optional<double> value = number_of(text)) return *value;
  throw Error(ErrorCode::invalid_file, "weight '" + text + "' is not a number",
              Place{path, static_cast<std::int64_t>(line), 0});
}

std::vector<double> by_name(const Cells& cells, const std::vector<std::string>& names, const std::string& path) {
  std::unordered_map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < names.size(); ++i) place.emplace(names[i], i);
  std::vector<double> weights(names.size(), 1.0);
  std::vector<bool> seen(names.size(), false);
  for (std::size_t row = 0; row < cells.size(); ++row) {
    const std::string& name = cells[row][0];
    const auto found = place.find(name);
    if (found == place.end()) {
      if (row == 0 && !number_of(cells[row][1])) continue;  // a header such as attribute,weight
      throw Error(ErrorCode::invalid_file, "no feature is called '" + name + "'" + did_you_mean(name, names),
                  Place{path, static_cast<std::int64_t>(row) + 1, 1});
    }
    if (seen[found->second]) {
      throw Error(ErrorCode::invalid_file, "'" + name + "' has two weights",
                  Place{path, static_cast<std::int64_t>(row) + 1, 1});
    }
    seen[found->second] = true;
    weights[found->second] = weight_of(cells[row][1], path, row + 1);
  }
  return weights;
}

std::vector<double> from_file(const std::string& path, const std::vector<std::string>& names, const RunOptions& run) {
  const Cells cells = read_cells(path, run);
  if (cells.empty()) throw Error(ErrorCode::invalid_file, path + ": holds no weights");
  const bool header = cells[0] == names && !names.empty() && !number_of(cells[0][0]);
  if (header && cells.size() != 2) {
    throw Error(ErrorCode::invalid_file, path + ": a header of feature names needs exactly one row of weights, found " +
                                             std::to_string(cells.size() - 1));
  }
  if (!header && cells[0].size() == 2 && (cells.size() > 1 || !number_of(cells[0][0]))) {
    return by_name(cells, names, path);
  }
  std::vector<double> weights;
  for (std::size_t row = header ? 1 : 0; row < cells.size(); ++row) {
    for (const std::string& text : cells[row]) weights.push_back(weight_of(text, path, row + 1));
  }
  return weights;
}

std::optional<std::vector<double>> from_list(const std::string& text) {
  std::vector<double> weights;
  for (const std::string& item : split_list(text, "--feature-weights")) {
    const std::optional<double> value = number_of(item);
    if (!value) return std::nullopt;
    weights.push_back(*value);
  }
  return weights;
}

}  // namespace

std::vector<std::string> feature_names(const Table& table) {
  std::vector<std::string> names;
  for (const std::int64_t feature : table.features()) {
    names.push_back(table.columns[static_cast<std::size_t>(feature)].name);
  }
  return names;
}

std::vector<double> read_feature_weights(const std::string& source, const Table& table, const RunOptions& run) {
  const std::vector<std::string> names = feature_names(table);
  const std::optional<std::vector<double>> list = from_list(source);
  std::vector<double> weights = list ? *list : from_file(source, names, run);
  if (weights.size() != names.size()) {
    throw Error(ErrorCode::invalid_argument, "--feature-weights gives " + std::to_string(weights.size()) +
                                                 " weights for " + std::to_string(names.size()) + " features");
  }
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0.0; })) {
    throw Error(ErrorCode::invalid_argument, "--feature-weights: every weight is 0, which leaves no feature");
  }
  return weights;
}

}  // namespace stope::cli
