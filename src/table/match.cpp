#include "table/match.hpp"

#include <algorithm>

#include "base/name_index.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"
#include "table/check_table.hpp"

namespace stope {

std::vector<FeatureSpec> features_of(const Table& table) {
  check_names(table);
  const std::vector<std::int64_t> features = table.features();
  std::vector<FeatureSpec> attributes;
  attributes.reserve(features.size());
  for (const std::int64_t index : features) {
    const Column& column = table.columns[static_cast<std::size_t>(index)];
    attributes.push_back({column.name, column.type, column.values});
  }
  return attributes;
}

std::vector<std::int32_t> map_values(const Values& values, const Values& known, std::int32_t unseen) {
  std::vector<std::int32_t> mapped;
  mapped.reserve(static_cast<std::size_t>(values.size()));
  for (const std::string& value : values) {
    const std::int32_t code = known.code_of(value);
    mapped.push_back(code == kUnseenCode ? unseen : code);
  }
  return mapped;
}

namespace {

[[noreturn]] void fail_missing(const std::string& attribute, const std::vector<FeatureSpec>& attributes,
                               const Table& table, const NameIndex& columns) {
  std::vector<std::string> names;
  names.reserve(table.columns.size());
  for (const Column& column : table.columns) names.push_back(column.name);
  // Where no name fits, most probably the table has none.
  const bool named = std::any_of(attributes.begin(), attributes.end(),
                                 [&](const FeatureSpec& other) { return columns.contains(other.name); });
  throw Error(ErrorCode::invalid_data,
              (table.source.empty() ? "the table " : "") + std::string("has no column '") + attribute +
                  "', which the training table has" + did_you_mean(attribute, names),
              {.file = table.source, .option = named ? "" : "test_names", .feature = attribute});
}

}  // namespace

std::vector<MatchedColumn> match_columns(const std::vector<FeatureSpec>& attributes, const Table& table, Compat compat,
                                         ValueMapping mapping) {
  check_shape(table);
  NameIndex columns(table.columns.size());
  const auto name_of = [](const Column& column) -> std::string_view { return column.name; };
  const std::int64_t repeated = columns.add_all(table.columns, name_of);
  if (repeated >= 0) refuse_repeated_name(table.columns[static_cast<std::size_t>(repeated)]);
  std::vector<MatchedColumn> matched;
  matched.reserve(attributes.size());
  for (const FeatureSpec& attribute : attributes) {
    const std::int64_t at = columns.find(attribute.name);
    if (at < 0) fail_missing(attribute.name, attributes, table, columns);
    const Column& column = table.columns[static_cast<std::size_t>(at)];
    const bool nominal = is_nominal(attribute.type);
    if (column.nominal() != nominal) {
      throw Error(ErrorCode::invalid_data,
                  "the attribute '" + attribute.name + "' is " + (column.nominal() ? "nominal" : "numeric") +
                      " here and " + (nominal ? "nominal" : "numeric") + " in the training table",
                  {.file = table.source, .feature = attribute.name});
    }
    MatchedColumn found{&column, {}};
    if (nominal && mapping == ValueMapping::by_name && column.values != attribute.values) {
      found.codes =
          map_values(column.values, attribute.values, compat == Compat::rapidminer ? kMissingCode : kUnseenCode);
    }
    matched.push_back(std::move(found));
  }
  return matched;
}

}  // namespace stope
