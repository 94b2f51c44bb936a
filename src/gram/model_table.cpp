#include "gram/model_table.hpp"

#include <cmath>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/threads_for.hpp"
#include "stope/error.hpp"
#include "table/column_error.hpp"
#include "table/match.hpp"

namespace stope::gram {

Column word_column(std::string name, const std::vector<const std::string*>& words) {
  std::vector<std::string> values;
  std::vector<std::int32_t> codes;
  std::unordered_map<std::string, std::int32_t> known;
  for (const std::string* word : words) {
    if (word == nullptr) {
      codes.push_back(kMissingCode);
      continue;
    }
    const auto [it, is_new] = known.emplace(*word, static_cast<std::int32_t>(values.size()));
    if (is_new) values.push_back(*word);
    codes.push_back(it->second);
  }
  return make_nominal(std::move(name), codes, std::move(values));
}

void ModelReader::fail(const std::string& what) const {
  throw Error(ErrorCode::invalid_data, what, {table_.source});
}

const Column& ModelReader::words(const std::string& name) const {
  const std::int64_t at = table_.find(name);
  if (at < 0) fail("no column '" + name + "': this is not a file of that kind");
  const Column& column = table_.columns[static_cast<std::size_t>(at)];
  if (!column.nominal()) fail("column '" + name + "' holds numbers, not words");
  return column;
}

const Column& ModelReader::numbers(const std::string& name) const {
  const std::int64_t at = table_.find(name);
  if (at < 0) fail("no column '" + name + "': this is not a file of that kind");
  const Column& column = table_.columns[static_cast<std::size_t>(at)];
  check_numbers(column);
  return column;
}

void ModelReader::check_numbers(const Column& column) const {
  if (column.nominal()) fail("column '" + column.name + "' holds words, not numbers");
}

const std::string& ModelReader::word(const Column& column, std::int64_t row) const {
  if (column.missing(row)) throw column_error(ErrorCode::invalid_data, table_, column, ": the value is missing", row);
  return column.values[static_cast<std::size_t>(column.codes()[row])];
}

const std::string& ModelReader::name(const Column& column, std::int64_t row) {
  const std::string& found = word(column, row);
  if (named_.add(found) >= 0) {
    throw column_error(ErrorCode::invalid_data, table_, column, ": the name of an earlier row", row);
  }
  return found;
}

double ModelReader::number(const Column& column, std::int64_t row) const {
  const double value = column.at(row);
  if (!std::isfinite(value)) {
    throw column_error(ErrorCode::invalid_data, table_, column, ": not a finite number", row);
  }
  return value;
}

NumericColumns matched_columns(const Table& table, const std::vector<std::string>& names, MissingValues missing,
                               ThreadPool& pool, const CancelToken& cancel) {
  std::vector<FeatureSpec> attributes;
  attributes.reserve(names.size());
  for (const std::string& name : names) attributes.push_back({name, ValueType::real, {}});
  std::vector<std::int64_t> columns;
  for (const MatchedColumn& matched : match_columns(attributes, table, Compat::none)) {
    columns.push_back(matched.column - table.columns.data());
  }
  return {table, columns, missing, {}, NumericColumns::Summaries::no, pool, cancel};
}

int threads_for_products(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_vectors, const RunOptions& run) {
  // Nanoseconds: to check and copy a value, and to multiply it by few vectors or by vectors that fill whole tiles.
  const double products = n_vectors <= kFewVectors
                              ? 0.3 * static_cast<double>(n_vectors)
                              : 0.05 * static_cast<double>(checked::ceil_div(n_vectors, kTile) * kTile);
  const double seconds = 1e-9 * static_cast<double>(n_rows) * static_cast<double>(n_columns) * (0.5 + products);
  return threads_for(seconds, run.threads > 0 ? run.threads : available_threads());
}

}  // namespace stope::gram
