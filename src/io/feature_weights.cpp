// read_feature_weights(): one row or column of numbers, or lines of names and numbers (stope/io.hpp).
#include "stope/feature_weights.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/guarded.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

using Cells = std::vector<std::vector<std::string>>;  // by row

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The file's fields as text. They are read without a header: the names in the first row decide whether it is one.
Cells read_cells(const std::string& path, RunOptions run) {
  run.warn = {};  // a name above numbers is what is expected here
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
  throw Error(ErrorCode::invalid_data, "weight '" + text + "' is not a number",
              Place{path, static_cast<std::int64_t>(line), 0});
}

std::vector<double> by_name(const Cells& cells, const Table& table, const std::string& path) {
  const std::vector<std::string> names = feature_names(table);
  // A header such as attribute,weight.
  const bool header =
      std::find(names.begin(), names.end(), cells[0][0]) == names.end() && !number_of(cells[0][1]).has_value();
  const std::size_t first = header ? 1 : 0;
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t row = first; row < cells.size(); ++row) {
    named.emplace_back(cells[row][0], weight_of(cells[row][1], path, row + 1));
  }
  try {
    return feature_weights(table, named);
  } catch (const Error& error) {
    const std::int64_t line = error.row() + static_cast<std::int64_t>(first) + 1;
    throw Error(ErrorCode::invalid_data, error.message(), Place{.file = path, .line = line, .column = 1});
  }
}

}  // namespace

std::vector<double> read_feature_weights(const std::string& path, const Table& table, const RunOptions& run) try {
  const std::vector<std::string> names = feature_names(table);
  const Cells cells = read_cells(path, run);
  if (cells.empty()) throw Error(ErrorCode::invalid_data, path + ": holds no weights");
  const bool header = cells[0] == names && !names.empty() && !number_of(cells[0][0]);
  if (header && cells.size() != 2) {
    throw Error(ErrorCode::invalid_data, path + ": a header of feature names needs exactly one row of weights, found " +
                                             std::to_string(cells.size() - 1));
  }
  if (!header && cells[0].size() == 2 && (cells.size() > 1 || !number_of(cells[0][0]))) {
    return by_name(cells, table, path);
  }
  std::vector<double> weights;
  for (std::size_t row = header ? 1 : 0; row < cells.size(); ++row) {
    for (const std::string& text : cells[row]) weights.push_back(weight_of(text, path, row + 1));
  }
  return weights;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
