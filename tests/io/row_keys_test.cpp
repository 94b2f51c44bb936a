// Warnings of features that tell rows apart and nothing else.
#include "io/row_keys.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stope::io {
namespace {

// The warning about a table of 20 rows with a feature of these numbers.
std::string warning_of(const std::vector<double>& numbers) {
  Table table;
  table.n_rows = 20;
  std::vector<std::int32_t> y;
  for (int row = 0; row < 20; ++row) y.push_back(row % 2);
  table.columns = {make_numeric("n", numbers, ValueType::integer), make_nominal("y", y, {"a", "b"})};
  table.columns[1].role = Role::label;
  std::string told;
  RunOptions run;
  run.warn = [&](std::string_view, std::string_view text) { told += text; };
  warn_of_row_keys(table, run);
  return told;
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
