#include "io/roles.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/counted.hpp"
#include "io/iso_date.hpp"
#include "io/number.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"
#include "table/column_error.hpp"
#include "table/match.hpp"

namespace stope::io {
namespace {

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  names.reserve(table.columns.size());
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

// The name of a number as a nominal value. Whole numbers have no ".0", as in a file of class numbers.
std::string value_name(double value) {
  std::string text;
  append_number(text, value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

// Codes from 0 on for distinct numbers, in the order wanted, with their names.
struct NumberNames {
  std::unordered_map<double, std::int32_t> codes;
  std::vector<std::string> names;
};

NumberNames collect_names(const Column& column, NominalOrder order) {
  NumberNames result;
  std::vector<double> numbers;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    const double value = column.at(row) + 0.0;  // one class for -0 and 0, under one name
    if (std::isnan(value) || !result.codes.emplace(value, 0).second) continue;
    numbers.push_back(value);
    result.names.push_back(value_name(value));
  }
  std::vector<std::size_t> sequence(numbers.size());
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  if (order == NominalOrder::sorted) {
    std::sort(sequence.begin(), sequence.end(),
              [&](std::size_t a, std::size_t b) { return result.names[a] < result.names[b]; });
  }
  std::vector<std::string> names;
  for (std::size_t code = 0; code < sequence.size(); ++code) {
    result.codes[numbers[sequence[code]]] = static_cast<std::int32_t>(code);
    names.push_back(std::move(result.names[sequence[code]]));
  }
  result.names = std::move(names);
  return result;
}

// The numbers in a schema's value list, which may spell them in any way ("1.0").
NumberNames listed_names(const Values& values) {
  NumberNames result;
  result.names = values.names();
  for (std::size_t code = 0; code < values.size(); ++code) {
    double value = 0;
    if (parse_number(values[code], value)) result.codes.emplace(value, static_cast<std::int32_t>(code));
  }
  return result;
}

[[noreturn]] void fail_value(const Table& table, const Column& column, std::int64_t row, const std::string& what) {
  throw column_error(ErrorCode::invalid_data, table, column, ": " + what, row);
}

void make_nominal_in_place(const Table& table, Column& column, const ColumnSpec& spec, NominalOrder order) {
  const bool listed = !spec.values.empty();
  NumberNames names = listed ? listed_names(spec.values) : collect_names(column, order);
  Buffer<std::int32_t> codes(column.size());
  for (std::int64_t row = 0; row < column.size(); ++row) {
    const double value = column.at(row);
    if (std::isnan(value)) {
      codes[row] = kMissingCode;
      continue;
    }
    const auto found = names.codes.find(value);
    if (found == names.codes.end()) {
      fail_value(table, column, row, "'" + value_name(value) + "' is not among the schema's values");
    }
    codes[row] = found->second;
  }
  column.data = std::move(codes);
  column.values = std::move(names.names);
}

void make_numeric_in_place(const Table& table, Column& column, ValueType type) {
  std::vector<double> numbers(column.values.size());
  std::vector<bool> readable(column.values.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (type == ValueType::date) {
      const std::optional<IsoDate> date = parse_iso_date(column.values[i]);
      readable[i] = date.has_value();
      if (date.has_value()) numbers[i] = date->days;
    } else {
      readable[i] = parse_number(column.values[i], numbers[i]);
    }
  }
  Buffer<double> data(column.size());
  const Buffer<std::int32_t>& codes = column.codes();
  for (std::int64_t row = 0; row < codes.size(); ++row) {
    const std::int32_t code = codes[row];
    if (code < 0) {
      data[row] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const auto i = static_cast<std::size_t>(code);
    if (!readable[i]) {
      fail_value(table, column, row,
                 "'" + column.values[i] + (type == ValueType::date ? "' is not an ISO date" : "' is not a number"));
    }
    data[row] = numbers[i];
  }
  column.data = std::move(data);
  column.values = {};
}

// Renumbers the codes of a nominal column in the order of a schema's value list.
void reorder_values(const Table& table, Column& column, const Values& values) {
  const std::vector<std::int32_t> map = map_values(column.values, values, kUnseenCode);
  const Buffer<std::int32_t> from = column.codes();
  Buffer<std::int32_t> to(from.size());
  for (std::int64_t row = 0; row < from.size(); ++row) {
    to[row] = from[row] < 0 ? from[row] : map[static_cast<std::size_t>(from[row])];
    if (from[row] >= 0 && to[row] == kUnseenCode) {
      fail_value(table, column, row,
                 "'" + column.values[static_cast<std::size_t>(from[row])] + "' is not among the schema's values");
    }
  }
  column.data = std::move(to);
  column.values = values;
}

void apply_type(const Table& table, Column& column, const ColumnSpec& spec, NominalOrder order) {
  if (is_nominal(spec.type)) {
    if (!column.nominal()) {
      make_nominal_in_place(table, column, spec, order);
    } else if (!spec.values.empty() && spec.values != column.values) {
      reorder_values(table, column, spec.values);
    }
    column.type = spec.type;
    return;
  }
  if (column.nominal()) make_numeric_in_place(table, column, spec.type);
  column.type = spec.type;
}

void apply_schema(Table& table, const Schema& schema, Names kind, const ReadOptions& options) {
  const std::vector<std::int64_t> specs =
      match_schema(names_of(table), kind, schema, options.unknown_columns, table.source);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ColumnSpec& spec = schema.columns[static_cast<std::size_t>(specs[i])];
    apply_type(table, table.columns[i], spec, options.nominal_order);
    if (kind == Names::positions) table.columns[i].name = spec.name;
    table.columns[i].role = spec.role;
  }
}

// Gives one column a role that only one column may have. The column that had it from the schema becomes a feature.
void give_role(Table& table, const ColumnNames& names, const std::string& text, Role role, std::string_view option) {
  const std::int64_t index = text.empty() ? -1 : names.find(text, option);
  if (index < 0) return;
  for (Column& column : table.columns) {
    if (column.role == role) column.role = Role::regular;
  }
  table.columns[static_cast<std::size_t>(index)].role = role;
}

void check_contradictions(const ColumnNames& names, const ReadOptions& options) {
  std::unordered_map<std::int64_t, std::string_view> taken;
  const auto take = [&](const std::string& text, std::string_view option) {
    const std::int64_t index = text.empty() ? -1 : names.find(text, option);
    if (index < 0) return;
    const auto [at, is_new] = taken.emplace(index, option);
    if (!is_new && at->second != option) {
      throw Error(ErrorCode::invalid_argument,
                  "column '" + text + "' is named by both " + std::string(at->second) + " and " + std::string(option),
                  {.option = std::string(option), .feature = text});
    }
  };
  take(options.target, "target");
  take(options.id, "id");
  take(options.sample_weight, "sample weight");
  for (const std::string& text : options.ignore) take(text, "ignore");
  taken.clear();
  for (const std::string& text : options.nominal) take(text, "nominal");
  for (const std::string& text : options.numeric) take(text, "numeric");
  for (const std::string& text : options.date) take(text, "date");
}

}  // namespace

ColumnNames::ColumnNames(std::vector<std::string> names, UnknownColumns unknown, const std::string& source)
    : names_(std::move(names)), unknown_(unknown), source_(source) {}

std::int64_t ColumnNames::find(const std::string& text, std::string_view option) const {
  if (index_.empty()) {
    index_.reserve(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) index_.emplace(names_[i], static_cast<std::int64_t>(i));
  }
  const auto found = index_.find(text);
  if (found != index_.end()) return found->second;
  if (unknown_ == UnknownColumns::skip) return -1;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 1 &&
      number <= static_cast<std::int64_t>(names_.size())) {
    return number - 1;
  }
  throw Error(ErrorCode::invalid_data,
              "no column '" + text + "' (" + std::string(option) + ") among its " +
                  counted(std::ssize(names_), "column") + did_you_mean(text, names_),
              {.file = source_, .option = std::string(option), .feature = text});
}

std::string target_name(const ReadOptions& options, const Schema* schema) {
  if (!options.target.empty() || schema == nullptr) return options.target;
  for (const ColumnSpec& spec : schema->columns) {
    if (spec.role == Role::label) return spec.name;
  }
  return "";
}

std::vector<std::int64_t> match_schema(const std::vector<std::string>& names, Names kind, const Schema& schema,
                                       UnknownColumns unknown, const std::string& source) {
  const bool may_lack_columns = kind == Names::given && unknown == UnknownColumns::skip;
  if (may_lack_columns ? names.size() > schema.columns.size() : names.size() != schema.columns.size()) {
    throw Error(ErrorCode::invalid_data,
                "has " + counted(std::ssize(names), "column") + ", its schema " + std::to_string(schema.columns.size()),
                {.file = source, .option = "schema"});
  }
  std::vector<std::int64_t> specs(names.size());
  std::iota(specs.begin(), specs.end(), std::int64_t{0});
  if (kind == Names::positions) return specs;
  std::unordered_map<std::string_view, std::int64_t> by_name;
  std::vector<std::string> spec_names;
  for (const ColumnSpec& spec : schema.columns) {
    by_name.emplace(spec.name, static_cast<std::int64_t>(spec_names.size()));
    spec_names.push_back(spec.name);
  }
  // No list has a name twice. So if their lengths agree, a surplus column means that a schema column has none.
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = by_name.find(names[i]);
    if (found == by_name.end()) {
      throw Error(ErrorCode::invalid_data,
                  "column '" + names[i] + "' is not in the schema" + did_you_mean(names[i], spec_names),
                  {.file = source, .option = "schema", .feature = names[i]});
    }
    specs[i] = found->second;
  }
  return specs;
}

void check_names(const std::vector<std::string>& names, std::int64_t n_columns) {
  if (static_cast<std::int64_t>(names.size()) != n_columns) {
    throw Error(ErrorCode::invalid_argument,
                counted(std::ssize(names), "name") + (names.size() == 1 ? " is" : " are") + " given, the file has " +
                    counted(n_columns, "column"),
                {.option = "names"});
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw Error(ErrorCode::invalid_argument, "the name '" + name + "' is given to two columns", {.option = "names"});
    }
  }
}

void apply_roles(Table& table, const ReadOptions& options, const Schema* schema, Names kind) {
  if (!options.names.empty()) {
    check_names(options.names, static_cast<std::int64_t>(table.columns.size()));
    for (std::size_t i = 0; i < options.names.size(); ++i) table.columns[i].name = options.names[i];
    kind = Names::given;
  }
  if (schema != nullptr) apply_schema(table, *schema, kind, options);

  // Uses the current names: those that the schema gave to positions count, too.
  const ColumnNames names(names_of(table), options.unknown_columns, table.source);
  check_contradictions(names, options);
  const auto declare = [&](const std::string& text, std::string_view option, ValueType type) {
    const std::int64_t index = names.find(text, option);
    if (index < 0) return;
    Column& column = table.columns[static_cast<std::size_t>(index)];
    if (column.nominal() == is_nominal(type) && (type != ValueType::date || column.type == type)) return;
    apply_type(table, column, {column.name, type, column.role, {}}, options.nominal_order);
  };
  for (const std::string& text : options.nominal) declare(text, "nominal", ValueType::polynominal);
  for (const std::string& text : options.numeric) declare(text, "numeric", ValueType::real);
  for (const std::string& text : options.date) declare(text, "date", ValueType::date);
  const std::string target = target_name(options, schema);
  if (options.target_is_nominal && !target.empty()) declare(target, "target", ValueType::polynominal);
  if (!options.sample_weight.empty()) declare(options.sample_weight, "sample weight", ValueType::real);

  for (const std::string& text : options.ignore) {
    const std::int64_t index = names.find(text, "ignore");
    if (index >= 0) table.columns[static_cast<std::size_t>(index)].role = Role::ignore;
  }
  give_role(table, names, options.target, Role::label, "target");
  give_role(table, names, options.id, Role::id, "id");
  give_role(table, names, options.sample_weight, Role::weight, "sample weight");
}

}  // namespace stope::io
