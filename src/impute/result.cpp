#include "impute/result.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "stope/error.hpp"
#include "table/check_table.hpp"
#include "table/column_error.hpp"
#include "table/column_memory.hpp"

namespace stope::impute {
namespace {

std::int64_t value_bytes(const Column& column) {
  return std::visit([](const auto& data) { return static_cast<std::int64_t>(sizeof(*data.data())); }, column.data);
}

// The values of `column`, and behind them those of the training column that it lacks.
Values joined(const Column& column, const Column& train) {
  std::vector<std::string> names;
  for (const std::string& name : train.values) {
    if (column.values.code_of(name) == kUnseenCode) names.push_back(name);
  }
  if (names.empty()) return column.values;
  names.insert(names.begin(), column.values.begin(), column.values.end());
  return {std::move(names)};
}

bool all_whole(const Column& column) {
  for (std::int64_t row = 0; row < column.size(); ++row) {
    const double value = column.at(row);
    if (!std::isnan(value) && value != std::floor(value)) return false;
  }
  return true;
}

}  // namespace

ResultTable::ResultTable(const Fitted& fitted, const Table& table) : fitted_(fitted), table_(table), result_(table) {
  check_names(table);
  match_columns(fitted.features(), table, Compat::none);
  for (const Column& column : table.columns) names_.add(column.name);
  for (const FilledColumn& filled : fitted.columns()) {
    const Column& train = fitted.column(filled);
    const std::int64_t at = names_.find(train.name);
    places_.push_back(at);
    sources_.push_back(at < 0 ? nullptr : &table.columns[static_cast<std::size_t>(at)]);
    if (at < 0) continue;
    const Column& column = *sources_.back();
    if (column.nominal() != train.nominal()) {
      throw column_error(ErrorCode::invalid_data, table, column,
                         " is " + std::string(column.nominal() ? "nominal" : "numeric") + ", but was " +
                             (train.nominal() ? "nominal" : "numeric") + " where the imputer was fitted");
    }
    if (column.nominal()) check_codes(column);
  }
}

void ResultTable::copy_columns(const std::vector<std::int64_t>& n_missing, const RunOptions& run) {
  const auto n_columns = std::ssize(fitted_.columns());
  codes_.resize(static_cast<std::size_t>(n_columns));
  whole_days_.assign(static_cast<std::size_t>(n_columns), 0);
  std::int64_t row_bytes = 0, n_copied = 0;
  for (std::int64_t i = 0; i < n_columns; ++i) {
    if (n_missing[static_cast<std::size_t>(i)] == 0) continue;
    row_bytes += value_bytes(*given(i));
    ++n_copied;
  }
  const std::int64_t bytes = checked::mul(table_.n_rows, row_bytes);
  const Storage storage = storage_within(bytes, memory_budget(run));
  if (storage == Storage::memory) bytes_in_memory_ = bytes;
  ColumnMemory memory(storage, table_.n_rows, n_copied, row_bytes);
  for (std::int64_t i = 0; i < n_columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (n_missing[at] == 0) continue;
    run.cancel.check();
    Column& column = result_.columns[place(i)];
    std::visit(
        [&](auto& data) {
          using Value = std::decay_t<decltype(*data.data())>;
          Buffer<Value> copy = memory.take<Value>();
          std::copy(data.begin(), data.end(), copy.begin());
          data = std::move(copy);
        },
        column.data);
    const Column& train = fitted_.column(fitted_.columns()[at]);
    whole_days_[at] = column.type == ValueType::date && all_whole(train) && all_whole(*given(i)) ? 1 : 0;
    if (!column.nominal()) continue;
    column.values = joined(column, train);
    codes_[at].reserve(train.values.size());
    for (const std::string& name : train.values) codes_[at].push_back(column.values.code_of(name));
  }
  if (fitted_.options().indicators == Indicators::append) add_indicators(run);
}

void ResultTable::add_indicators(const RunOptions& run) {
  for (std::size_t i = 0; i < fitted_.columns().size(); ++i) {
    const FilledColumn& filled = fitted_.columns()[i];
    if (filled.n_present == fitted_.train().n_rows || sources_[i] == nullptr) continue;
    run.cancel.check();
    Column indicator;
    indicator.name = "missing(" + sources_[i]->name + ")";
    indicator.type = ValueType::integer;
    if (const std::int64_t at = names_.find(indicator.name); at >= 0) {
      throw column_error(ErrorCode::invalid_data, table_, table_.columns[static_cast<std::size_t>(at)],
                         " has the name of an indicator", -1, "indicators");
    }
    Buffer<float> values(table_.n_rows);
    for (std::int64_t row = 0; row < table_.n_rows; ++row) values[row] = sources_[i]->missing(row) ? 1.0F : 0.0F;
    indicator.data = std::move(values);
    result_.columns.push_back(std::move(indicator));
  }
}

double ResultTable::put(std::int64_t filled, std::int64_t row, double value) {
  const auto at = static_cast<std::size_t>(filled);
  Column& column = result_.columns[place(filled)];
  if (std::isnan(value)) return value;
  if (auto* const codes = std::get_if<Buffer<std::int32_t>>(&column.data)) {
    const std::int32_t code = codes_[at][static_cast<std::size_t>(value)];
    (*codes)[row] = code;
    return static_cast<double>(code);
  }
  if (whole_days_[at] != 0) value = std::nearbyint(value);
  if (column.type == ValueType::integer && value != std::floor(value)) column.type = ValueType::real;
  if (auto* const floats = std::get_if<Buffer<float>>(&column.data)) {
    return static_cast<double>((*floats)[row] = static_cast<float>(value));
  }
  return std::get<Buffer<double>>(column.data)[row] = value;
}

Table ResultTable::take() {
  return std::move(result_);
}

}  // namespace stope::impute
