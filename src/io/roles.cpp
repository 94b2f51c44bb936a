#include "io/roles.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/counted.hpp"
#include "io/column_choice.hpp"
#include "io/retype.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::io {
namespace {

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  names.reserve(table.columns.size());
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

void apply_schema(Table& table, const Schema& schema, Names kind, const ReadOptions& options, Retyper& retyper) {
  const std::vector<std::int64_t> specs =
      match_schema(names_of(table), kind, schema, options.unknown_columns, table.source);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ColumnSpec& spec = schema.columns[static_cast<std::size_t>(specs[i])];
    retyper.apply(table.columns[i], spec);
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

}  // namespace

ColumnNames::ColumnNames(std::vector<std::string> names, UnknownColumns unknown, const std::string& source)
    : names_(std::move(names)), unknown_(unknown), source_(source) {}

std::int64_t ColumnNames::index_of(std::string_view name) const {
  if (index_.size() == 0) {
    index_ = NameIndex(names_.size());
    index_.add_all(names_, [](const std::string& each) -> std::string_view { return each; });
  }
  return index_.find(name);
}

std::int64_t ColumnNames::find(const std::string& text, std::string_view option) const {
  const std::int64_t index = index_of(text);
  if (index >= 0) return index;
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

bool names_columns(const ReadOptions& options) {
  for (const auto* list : {&options.select, &options.ignore, &options.nominal, &options.numeric, &options.date}) {
    if (!list->empty()) return true;
  }
  return !options.target.empty() || !options.id.empty() || !options.sample_weight.empty();
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
  NameIndex by_name(schema.columns.size());
  by_name.add_all(schema.columns, [](const ColumnSpec& spec) -> std::string_view { return spec.name; });
  // No list has a name twice. So if their lengths agree, a surplus column means that a schema column has none.
  for (std::size_t i = 0; i < names.size(); ++i) {
    specs[i] = by_name.find(names[i]);
    if (specs[i] < 0) {
      std::vector<std::string> spec_names;
      spec_names.reserve(schema.columns.size());
      for (const ColumnSpec& spec : schema.columns) spec_names.push_back(spec.name);
      throw Error(ErrorCode::invalid_data,
                  "column '" + names[i] + "' is not in the schema" + did_you_mean(names[i], spec_names),
                  {.file = source, .option = "schema", .feature = names[i]});
    }
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
  NameIndex seen(names.size());
  for (const std::string& name : names) {
    if (seen.add(name) >= 0) {
      throw Error(ErrorCode::invalid_argument, "the name '" + name + "' is given to two columns", {.option = "names"});
    }
  }
}

void apply_roles(Table& table, const ReadOptions& options, const Schema* schema, Names kind, const RunOptions& run,
                 std::int64_t held) {
  Retyper retyper(table, options.nominal_order, run, held);
  if (!options.names.empty()) {
    check_names(options.names, static_cast<std::int64_t>(table.columns.size()));
    for (std::size_t i = 0; i < options.names.size(); ++i) table.columns[i].name = options.names[i];
    kind = Names::given;
  }
  if (schema != nullptr) apply_schema(table, *schema, kind, options, retyper);

  if (schema == nullptr && !names_columns(options)) return;
  // Uses the current names: those that the schema gave to positions count, too.
  const ColumnNames names(names_of(table), options.unknown_columns, table.source);
  const ColumnChoice choice = choose_columns(names, options);
  const auto declare = [&](std::int64_t index, ValueType type) {
    if (index < 0) return;
    Column& column = table.columns[static_cast<std::size_t>(index)];
    if (column.nominal() == is_nominal(type) && (type != ValueType::date || column.type == type)) return;
    retyper.apply(column, {column.name, type, column.role, {}});
  };
  for (const std::int64_t index : choice.nominal) declare(index, ValueType::polynominal);
  for (const std::int64_t index : choice.numeric) declare(index, ValueType::real);
  for (const std::int64_t index : choice.date) declare(index, ValueType::date);
  const std::string target = target_name(options, schema);
  if (options.target_is_nominal && !target.empty()) declare(names.find(target, "target"), ValueType::polynominal);
  if (!options.sample_weight.empty()) declare(names.find(options.sample_weight, "sample_weight"), ValueType::real);

  for (const std::int64_t index : choice.ignore) table.columns[static_cast<std::size_t>(index)].role = Role::ignore;
  give_role(table, names, options.target, Role::label, "target");
  give_role(table, names, options.id, Role::id, "id");
  give_role(table, names, options.sample_weight, Role::weight, "sample_weight");
}

}  // namespace stope::io
