// Fields apart by any number of blanks, as UCI's files, R and awk have them.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>

#include "io/temporary_folder.hpp"
#include "same_table.hpp"
#include "stope/io.hpp"
#include "stope/place_of_cell.hpp"
#include "stope/warning.hpp"

namespace stope {
namespace {

class CsvBlanks : public TemporaryFolder {
 protected:
  Table read(const std::string& text, const ReadOptions& options = {.separator = ' '}) {
    warnings_.clear();
    RunOptions run;
    run.warn = [&](std::string_view code, std::string_view message) { warnings_[std::string(code)] = message; };
    return read_table(put("t.data", text), options, run);
  }
  std::string error_of(const std::string& text, const ReadOptions& options = {.separator = ' '}) {
    try {
      read(text, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::map<std::string, std::string> warnings_;
};

TEST_F(CsvBlanks, AnyNumberOfSpacesAndTabsIsOneSeparator) {
  const Table table = read("  a b\t \tname\n 1   2.5 x  \n\t3 \t ? \"y  z\"\r\n\n  5\t6 \"\"");
  ASSERT_EQ(table.columns.size(), 3U);
  ASSERT_EQ(table.n_rows, 3);
  EXPECT_EQ(table.columns[2].name, "name");
  EXPECT_EQ(table.columns[0].at(2), 5);
  EXPECT_EQ(table.columns[1].at(0), 2.5);
  EXPECT_TRUE(table.columns[1].missing(1));
  EXPECT_EQ(table.columns[2].values, (std::vector<std::string>{"x", "y  z"}));
  EXPECT_TRUE(table.columns[2].missing(2));
}

TEST_F(CsvBlanks, AFieldThatIsLeftOutIsAnErrorWithItsPlace) {
  const std::string text = "a b c\n1  2 3\n   4     5\n";
  EXPECT_NE(error_of(text).find("t.data:3:1: expected 3 fields, found 2"), std::string::npos) << error_of(text);
}

TEST_F(CsvBlanks, PlacesAreThoseOfTheFile) {
  const ReadOptions options = {.separator = ' ', .skip_lines = 1};
  const std::string path = put("t.data", "about\na   b\n1 \t \"q  r\"\n");
  EXPECT_EQ(place_of_cell(path, options, 0, "b").line, 3);
  EXPECT_EQ(place_of_cell(path, options, 0, "b").column, 5);
}

TEST_F(CsvBlanks, CommentsAndQuotedLinesStayAsTheyAre) {
  const Table table =
      read("#  it's \"so\na  b\n1  \"x\n  y\"\"  z\"\n# no\n2  w\n", {.separator = ' ', .comment = '#'});
  ASSERT_EQ(table.n_rows, 2);
  EXPECT_EQ(table.columns[1].values[static_cast<std::size_t>(table.columns[1].codes()[0])], "x\n  y\"  z");
}

TEST_F(CsvBlanks, WhatIsWrittenReadsBack) {
  Table table = read("a,b\n1,\n,x y\n3,?\n", {.separator = ','});
  const std::string path = put("o.csv", "");
  write_table(path, table, {.separator = ' '});
  expect_equal(read_table(path, {.separator = ' '}), table);
}

TEST_F(CsvBlanks, TheTextMayBeOfAnyEncoding) {
  const Table table = read("a  \xFC\n1   \xE4\xF6\n", {.encoding = Encoding::latin1, .separator = ' '});
  EXPECT_EQ(table.columns[1].name, "\xC3\xBC");
  EXPECT_EQ(table.columns[1].values[0], "\xC3\xA4\xC3\xB6");
}

TEST_F(CsvBlanks, RandomTablesAreReadAsWithCommas) {
  std::mt19937 draw(8);
  for (int i = 0; i < 100; ++i) {
    const std::size_t n_columns = 2 + draw() % 5;
    std::string commas, blanks;
    for (int row = 0; row < 1 + static_cast<int>(draw() % 40); ++row) {
      const auto some = [&](std::size_t least) {
        for (std::size_t n = least + draw() % 3; n > 0; --n) blanks += draw() % 2 == 0 ? ' ' : '\t';
      };
      some(0);
      for (std::size_t c = 0; c < n_columns; ++c) {
        const std::array<std::string, 6> kFields = {"1", "-2.5", "?", "\"a  b\"", "\"x\"\"\t y\"", "word"};
        const std::string& field = kFields[draw() % kFields.size()];
        if (c > 0) commas += ',', some(1);
        commas += field;
        blanks += field;
      }
      some(0);
      const char* const end = draw() % 2 == 0 ? "\n" : "\r\n";
      commas += end;
      blanks += end;
    }
    const Table expected = read(commas, {.separator = ',', .header = Header::no});
    expect_equal(read(blanks, {.separator = ' ', .header = Header::no}), expected);
    if (HasFailure()) FAIL() << blanks;
  }
}

TEST_F(CsvBlanks, AColumnOfLinesWithEquallyManyFieldsIsAWarning) {
  const std::string code(warning::kOneColumn);
  read("15.26  14.84  0.871\n14.88\t 14.57   0.8811\n", {});
  EXPECT_EQ(warnings_[code],
            put("t.data", "") + ": read as one column, although every line has 3 fields apart by blanks");
  for (const char* meant : {"name\nJo Ann\nAl Bo\n", "x\n1\n2\n", "12 Main Street\n7 High Road East\n", "a b\n"}) {
    read(meant, {});
    EXPECT_FALSE(warnings_.contains(code)) << meant;
  }
  read("1 2\n3 4\n", {.separator = ','});
  EXPECT_FALSE(warnings_.contains(code));
}

}  // namespace
}  // namespace stope
