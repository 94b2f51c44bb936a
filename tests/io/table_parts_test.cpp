// A table written in parts equals the table written whole.
#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.hpp"
#include "io/temporary_folder.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

class TablePartsWriterTest : public TemporaryFolder {};

Table table_of(bool with_words) {
  Table table;
  table.n_rows = 7;
  table.columns.push_back(make_numeric("x", {1.5, -2.0, 0.1, with_words ? std::nan("") : 4.0, 5.0, 6.0, 7.25}));
  if (with_words) table.columns.push_back(make_nominal("a b", {0, 1, -1, 1, 0, 0, 1}, {"red", "dark, blue"}));
  return table;
}

TEST_F(TablePartsWriterTest, WritesWhatWriteTableWrites) {
  for (const char* name : {"t.csv", "t.tsv", "t.arff", "t.npy", "t.fvecs", "t.raw", "t.csv.gz"}) {
    const std::string text = name;
    const Table table = table_of(text.find("csv") != std::string::npos || text == "t.tsv" || text == "t.arff");
    const std::string whole = "whole_" + text, parts = "parts_" + text;
    write_table(at(whole), table);
    OutputFile file(at(parts));
    TablePartsWriter writer(file, table.n_rows);
    writer.append(table.take({0, 1, 2}));
    writer.append(table.take({3}));
    writer.append(table.take({4, 5, 6}));
    writer.finish();
    file.commit();
    EXPECT_EQ(content(parts), content(whole)) << name;
  }
}

TEST_F(TablePartsWriterTest, CountsItsRows) {
  const Table table = table_of(false);
  OutputFile file(at("t.npy"));
  TablePartsWriter writer(file, 10);
  expect_error(ErrorCode::invalid_argument, "0 rows were written of 10", [&] { writer.finish(); });
  writer.append(table);
  expect_error(ErrorCode::invalid_argument, "7 rows were written of 10", [&] { writer.finish(); });
  expect_error(ErrorCode::invalid_argument, "more rows than the 10 that were announced", [&] { writer.append(table); });
}

}  // namespace
}  // namespace stope
