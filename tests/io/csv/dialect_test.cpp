// Which characters may part fields, groups of digits and comments, and which bytes are text in an encoding.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>

#include "expect_error.hpp"
#include "io/csv/text.hpp"
#include "io/temporary_folder.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

class CsvDialect : public TemporaryFolder {
 protected:
  void refuse(const std::string& words, const std::function<void(ReadOptions&)>& change) {
    ReadOptions options;
    change(options);
    const std::string path = put("t.csv", "a;b\n1;2\n");
    expect_error(ErrorCode::invalid_argument, words, [&] { read_table(path, options); });
  }
};

TEST_F(CsvDialect, CharactersWithAnotherMeaningAreRefused) {
  for (const char c : {'"', '\n', '\r', '\xe9'}) {
    refuse("cannot be the separator", [c](ReadOptions& o) { o.separator = c; });
    refuse("cannot be the decimal mark", [c](ReadOptions& o) { o.decimal = c; });
    refuse("cannot be the comment character", [c](ReadOptions& o) { o.comment = c; });
    refuse("cannot be the mark between thousands", [c](ReadOptions& o) { o.thousands = c; });
  }
  for (const char c : {'-', '+', '5', 'e', 'E'}) {
    refuse("cannot be the decimal mark", [c](ReadOptions& o) { o.decimal = c; });
    refuse("cannot be the mark between thousands", [c](ReadOptions& o) { o.thousands = c; });
  }
  refuse("cannot be the decimal mark", [](ReadOptions& o) { o.decimal = ' '; });
  refuse("cannot be the comment character", [](ReadOptions& o) { o.separator = o.comment = ';'; });
  refuse("cannot be both the separator and the decimal mark", [](ReadOptions& o) { o.separator = o.decimal = ','; });
  refuse("skip_lines is -1", [](ReadOptions& o) { o.skip_lines = -1; });
}

TEST_F(CsvDialect, AFirstLineNamesTheSeparatorInEitherCase) {
  for (const char* first : {"sep=|\n", "SEP=|\n", "sep=|\r\n", "SEP=|\r"}) {
    const Table table = read_table(put("t.csv", std::string(first) + "a|b,c\n1|2\n"));
    ASSERT_EQ(table.columns.size(), 2U) << first;
    EXPECT_EQ(table.columns[1].name, "b,c") << first;
  }
}

TEST_F(CsvDialect, MoreSkippedLinesThanThereAreLeaveAnEmptyFile) {
  ReadOptions options;
  options.skip_lines = 1;
  EXPECT_EQ(read_table(put("t.csv", "title\na,b\n1,2\n"), options).columns[1].name, "b");
  for (const std::int64_t n : {3, 7}) {
    options.skip_lines = n;
    expect_error(ErrorCode::invalid_data, "empty", [&] { read_table(put("t.csv", "title\na,b\n1,2"), options); });
  }
}

TEST_F(CsvDialect, MarksOfByteOrderSayTheEncoding) {
  using namespace std::string_literals;
  ReadOptions utf16;
  utf16.encoding = Encoding::utf16;
  const std::string big = "\0a\0\n\x00\x31\0\n"s, little = "a\0\n\x00\x31\0\n\0"s;
  for (const std::string& text : {big, "\xFE\xFF"s + big, little, "\xFF\xFE"s + little}) {
    const Table table = read_table(put("t.csv", text), utf16);
    EXPECT_EQ(table.columns[0].name, "a");
    EXPECT_EQ(table.columns[0].at(0), 1.0);
  }
  expect_error(ErrorCode::invalid_data, "the byte order mark of UTF-8, not of UTF-16", [&] {
    read_table(put("t.csv",
                   "\xEF\xBB\xBF"
                   "a\n1\n"),
               utf16);
  });
  expect_error(ErrorCode::invalid_data, "is UTF-16 by its byte order mark",
               [&] { read_table(put("t.csv", "\xFE\xFF"s + big)); });
  EXPECT_EQ(read_table(put("t.txt",
                           "\xEF\xBB\xBF"
                           "a\n1\n"))
                .columns[0]
                .name,
            "a");
  for (const std::string& lone : {"a\0\n\0\x3D\xD8"s, "a\0\n\0\x00\xDC\n\0"s, "a\0\n\0\x3D\xD8\x00\xE0"s}) {
    expect_error(ErrorCode::invalid_data, "a lone surrogate", [&] { read_table(put("t.csv", lone), utf16); });
  }
}

TEST(CsvText, OnlyWholeAndShortestCharactersAreUtf8) {
  for (const std::string_view good : {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80",
                                      "\xF1\x80\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(io::csv::find_invalid_utf8("ab" + std::string(good) + "c"), -1) << good;
  }
  for (const std::string_view bad :
       {"\x80", "\xC1\x80", "\xE0\x9F\x80", "\xED\xA0\x80", "\xF0\x8F\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xC2\xC2", "\xE1\x80\x7A", "\xE1\x80\xC0", "\xF1\x80\x80", "\xC2"}) {
    EXPECT_EQ(io::csv::find_invalid_utf8("ab" + std::string(bad)), 2) << bad;
  }
}

}  // namespace
}  // namespace stope
