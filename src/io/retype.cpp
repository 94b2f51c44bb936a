// Retyper (io/retype.hpp). A column of distinct numbers has a name for each row: they are counted as they are found.
#include "io/retype.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/polled_sort.hpp"
#include "io/iso_date.hpp"
#include "io/number.hpp"
#include "table/column_error.hpp"
#include "table/column_memory.hpp"
#include "table/match.hpp"

namespace stope::io {
namespace {

constexpr std::int64_t kPollRows = 16384;  // some milliseconds, also where every row is looked up in a large map

// A distinct number while names are collected: a node and a bucket of the map, its place in the lists, which may just
// have grown. What stays is its name.
constexpr std::int64_t kCollectBytes = 150;

std::int64_t name_bytes(const std::string& name) {
  constexpr std::size_t kInside = 15;  // such a text lies inside its string
  const std::size_t outside = name.size() > kInside ? name.size() + 24 : 0;
  return static_cast<std::int64_t>(sizeof(std::string) + outside);
}

// The name of a number as a nominal value. Whole numbers have no ".0", as in a file of class numbers.
std::string value_name(double value) {
  std::string text;
  append_number(text, value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

// Codes from 0 on for distinct numbers, in the order wanted, with their names.
struct Retyper::NumberNames {
  std::unordered_map<double, std::int32_t> codes;
  std::vector<std::string> names;

  // The numbers in a schema's value list, which may spell them in any way ("1.0").
  static NumberNames listed(const Values& values) {
    NumberNames result;
    result.names = values.names();
    for (std::size_t code = 0; code < values.size(); ++code) {
      double value = 0;
      if (parse_number(values[code], value)) result.codes.emplace(value, static_cast<std::int32_t>(code));
    }
    return result;
  }
};

void Retyper::apply(Column& column, const ColumnSpec& spec) {
  if (is_nominal(spec.type)) {
    if (!column.nominal()) {
      make_nominal(column, spec);
    } else if (!spec.values.empty() && spec.values != column.values) {
      reorder_values(column, spec.values);
    }
  } else if (column.nominal()) {
    make_numeric(column, spec.type);
  }
  column.type = spec.type;
}

Retyper::NumberNames Retyper::collect_names(const Column& column) {
  NumberNames result;
  std::vector<double> numbers;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    poll(row);
    const double value = column.at(row) + 0.0;  // one class for -0 and 0, under one name
    if (std::isnan(value) || !result.codes.emplace(value, 0).second) continue;
    numbers.push_back(value);
    result.names.push_back(value_name(value));
    take(column, kCollectBytes + name_bytes(result.names.back()));
  }
  std::vector<std::size_t> sequence(numbers.size());
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  if (order_ == NominalOrder::sorted) {
    polled_sort(sequence.begin(), sequence.end(), run_.cancel,
                [&](std::size_t a, std::size_t b) { return result.names[a] < result.names[b]; });
  }
  std::vector<std::string> names;
  names.reserve(sequence.size());
  for (std::size_t code = 0; code < sequence.size(); ++code) {
    poll(static_cast<std::int64_t>(code));
    result.codes[numbers[sequence[code]]] = static_cast<std::int32_t>(code);
    names.push_back(std::move(result.names[sequence[code]]));
  }
  result.names = std::move(names);
  return result;
}

void Retyper::make_nominal(Column& column, const ColumnSpec& spec) {
  const bool listed = !spec.values.empty();
  NumberNames names = listed ? NumberNames::listed(spec.values) : collect_names(column);
  Buffer<std::int32_t> codes = values_for<std::int32_t>(column);
  for (std::int64_t row = 0; row < column.size(); ++row) {
    poll(row);
    const double value = column.at(row);
    if (std::isnan(value)) {
      codes[row] = kMissingCode;
      continue;
    }
    const auto found = names.codes.find(value);
    if (found == names.codes.end()) {
      fail_value(column, row, "'" + value_name(value) + "' is not among the schema's values");
    }
    codes[row] = found->second;
  }
  if (!listed) used_ -= std::ssize(names.names) * kCollectBytes;
  column.data = std::move(codes);
  column.values = std::move(names.names);
}

void Retyper::make_numeric(Column& column, ValueType type) {
  take(column, checked::mul(std::ssize(column.values), std::int64_t{sizeof(double) + 1}));
  std::vector<double> numbers(column.values.size());
  std::vector<bool> readable(column.values.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    poll(static_cast<std::int64_t>(i));
    if (type == ValueType::date) {
      const std::optional<IsoDate> date = parse_iso_date(column.values[static_cast<std::int64_t>(i)]);
      readable[i] = date.has_value();
      if (date.has_value()) numbers[i] = date->days;
    } else {
      readable[i] = parse_number(column.values[static_cast<std::int64_t>(i)], numbers[i]);
    }
  }
  Buffer<double> data = values_for<double>(column);
  const Buffer<std::int32_t>& codes = column.codes();
  for (std::int64_t row = 0; row < codes.size(); ++row) {
    poll(row);
    const std::int32_t code = codes[row];
    if (code < 0) {
      data[row] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const auto i = static_cast<std::size_t>(code);
    if (!readable[i]) {
      fail_value(column, row,
                 "'" + column.values[code] + (type == ValueType::date ? "' is not an ISO date" : "' is not a number"));
    }
    data[row] = numbers[i];
  }
  used_ -= std::ssize(numbers) * std::int64_t{sizeof(double) + 1};
  column.data = std::move(data);
  column.values = {};
}

// Renumbers the codes of a nominal column in the order of a schema's value list.
void Retyper::reorder_values(Column& column, const Values& values) {
  const std::vector<std::int32_t> map = map_values(column.values, values, kUnseenCode);
  const Buffer<std::int32_t> from = column.codes();
  Buffer<std::int32_t> to = values_for<std::int32_t>(column);
  for (std::int64_t row = 0; row < from.size(); ++row) {
    poll(row);
    to[row] = from[row] < 0 ? from[row] : map[static_cast<std::size_t>(from[row])];
    if (from[row] >= 0 && to[row] == kUnseenCode) {
      fail_value(column, row, "'" + column.values[from[row]] + "' is not among the schema's values");
    }
  }
  column.data = std::move(to);
  column.values = values;
}

// New values go where the reader would have put them: to a file, where memory is short.
template <class T>
Buffer<T> Retyper::values_for(const Column& column) {
  const std::int64_t bytes = checked::mul(column.size(), std::int64_t{sizeof(T)});
  const Storage storage = storage_within(bytes, std::max<std::int64_t>(0, budget() - used_));
  if (storage == Storage::memory) take(column, bytes);
  return Buffer<T>(column.size(), storage);
}

void Retyper::take(const Column& column, std::int64_t bytes) {
  used_ = checked::add(used_, bytes);
  if (used_ <= budget()) return;
  refuse_memory_from("the values of column '" + column.name + "' need", used_, budget(),
                     {.file = table_.source, .feature = column.name});
}

void Retyper::poll(std::int64_t i) const {
  if (i % kPollRows == 0) poll_step(run_.cancel);
}

std::int64_t Retyper::budget() {
  if (budget_ < 0) budget_ = std::max<std::int64_t>(0, memory_budget(run_) - held_);
  return budget_;
}

void Retyper::fail_value(const Column& column, std::int64_t row, const std::string& what) const {
  throw column_error(ErrorCode::invalid_data, table_, column, ": " + what, row);
}

}  // namespace stope::io
