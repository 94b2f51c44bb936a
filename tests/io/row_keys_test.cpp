// Warnings of features that tell rows apart and nothing else.
#include "io/row_keys.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace stope::io {
namespace {

// The warning about a table of these features and a label of two classes.
std::string warning_about(std::vector<Column> features) {
  Table table;
  table.n_rows = features.front().size();
  table.columns = std::move(features);
  std::vector<std::int32_t> y;
  for (std::int64_t row = 0; row < table.n_rows; ++row) y.push_back(static_cast<std::int32_t>(row % 2));
  table.columns.push_back(make_nominal("y", y, {"a", "b"}));
  table.columns.back().role = Role::label;
  std::string told;
  RunOptions run;
  run.warn = [&](std::string_view, std::string_view text) { told += text; };
  warn_of_row_keys(table, run);
  return told;
}

// 20 rows with a feature of these numbers.
std::string warning_of(const std::vector<double>& numbers) {
  return warning_about({make_numeric("n", numbers, ValueType::integer)});
}

// Texts of which each but the missing ones stands in one row.
Column texts(const std::string& name, std::int32_t n_present, std::int32_t n_missing) {
  std::vector<std::int32_t> codes;
  std::vector<std::string> values;
  for (std::int32_t code = 0; code < n_present; ++code) {
    codes.push_back(code);
    values.push_back("v" + std::to_string(code));
  }
  codes.resize(static_cast<std::size_t>(n_present + n_missing), kMissingCode);
  return make_nominal(name, codes, values);
}

TEST(RowKeys, TextsThatStandInOneRowEachAreToldWhereThereAreEnoughOfThem) {
  EXPECT_NE(warning_about({texts("t", 20, 4)}).find("'t' has a value of its own"), std::string::npos);
  EXPECT_EQ(warning_about({texts("t", 19, 5)}), "") << "so few differ by chance";
  EXPECT_EQ(warning_about({texts("t", 19, 0)}), "");
}

TEST(RowKeys, OfManyKeysTheFirstFourAreNamed) {
  std::vector<Column> keys;
  for (const char* const name : {"a", "b", "c", "d"}) keys.push_back(texts(name, 20, 0));
  EXPECT_NE(warning_about(keys).find("'a' has a value of its own in nearly every row; so has 'b', 'c', 'd'"),
            std::string::npos);
  keys.push_back(texts("e", 20, 0));
  keys.push_back(texts("f", 20, 0));
  EXPECT_TRUE(warning_about(keys).ends_with("; so has 'b', 'c', 'd' and 2 more")) << warning_about(keys);
}

TEST(RowKeys, NumbersThatCountTheRowsFromAnywhereAreTold) {
  std::vector<double> counts;
  for (int row = 0; row < 20; ++row) counts.push_back(17.0 + row);
  EXPECT_NE(warning_of(counts).find("'n'"), std::string::npos);
  for (const std::size_t row : {0, 1, 19}) {
    std::vector<double> others = counts;
    others[row] = 5.0;
    EXPECT_EQ(warning_of(others), "") << row;
  }
}

}  // namespace
}  // namespace stope::io
