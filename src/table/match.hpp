// Matching: which column of another table holds each attribute, and how its nominal codes translate. Attributes are
// matched by name and nominal values by their names, never by position.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stope/compat.hpp"
#include "stope/table.hpp"

namespace stope {

/// An attribute as the training table defines it.
struct FeatureSpec {
  std::string name;
  ValueType type = ValueType::real;
  Values values;
};

/// Where an attribute is found: the column, and, if it is nominal, the training code of each of its own codes.
struct MatchedColumn {
  const Column* column = nullptr;
  std::vector<std::int32_t> codes;  ///< empty for numeric columns and where both tables have the same codes
};

/// How values translate between the two tables.
enum class ValueMapping {
  by_name,   ///< an unseen value becomes kUnseenCode, or kMissingCode under Compat::rapidminer
  raw_codes  ///< codes are compared as they stand (RapidMiner's Cross Distances)
};

/// The features of a table, in column order.
std::vector<FeatureSpec> features_of(const Table& table);

/// Finds every attribute in `table`, and checks the table's shape; codes are checked where they are encoded. Throws
/// invalid_data if one is missing, or numeric here and nominal there. The
/// result points into `table`.
std::vector<MatchedColumn> match_columns(const std::vector<FeatureSpec>& attributes, const Table& table, Compat compat,
                                         ValueMapping mapping = ValueMapping::by_name);

/// The training code of each of `values`: its position in `known`, else `unseen`.
std::vector<std::int32_t> map_values(const Values& values, const Values& known, std::int32_t unseen);

}  // namespace stope
