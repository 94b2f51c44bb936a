// Rows as CSV and JSON text: numbers read back as the same bits, and what JSON cannot say is said in quotes.
#include "stope/row_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

Table table_of_columns(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns.front().size();
  table.columns = std::move(columns);
  return table;
}

std::string text_of(const Table& table, RowText text) {
  std::string out;
  append_rows(out, table, text);
  return out;
}

Table small_table() {
  return table_of_columns({make_numeric("a", {1, std::nan(""), -0.0}),
                           make_nominal("b \"q\"", {1, kMissingCode, 0}, Values({"x\n", "com,ma"})),
                           make_numeric("n", {3, 4, std::nan("")}, ValueType::integer),
                           make_numeric("d", {18263, 0.5, std::nan("")}, ValueType::date)});
}

TEST(RowText, EachFormHasItsQuotesAndItsMissingValues) {
  EXPECT_EQ(text_of(small_table(), RowText::csv),
            "1.0,\"com,ma\",3,2020-01-02T00:00:00\n,,4,1970-01-01T12:00:00\n-0.0,\"x\n\",,\n");
  EXPECT_EQ(text_of(small_table(), RowText::json_arrays),
            R"([1.0,"com,ma",3,"2020-01-02T00:00:00"],[null,null,4,"1970-01-01T12:00:00"],[-0.0,"x\u000a",null,null])");
  const Table one = table_of_columns({make_numeric("b \"q\"\\", {HUGE_VAL, -HUGE_VAL})});
  EXPECT_EQ(text_of(one, RowText::json_objects), R"({"b \"q\"\\":"Infinity"},{"b \"q\"\\":"-Infinity"})");
  std::string header;
  append_csv_header(header, small_table());
  EXPECT_EQ(header, "a,\"b \"\"q\"\"\",n,d\n");
}

TEST(RowText, JsonNumbersReadBackAsTheSameBits) {
  Random random(7);
  std::vector<double> numbers;
  while (numbers.size() < 20000) {
    const std::uint64_t bits = random.next();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (std::isfinite(number)) numbers.push_back(number);
  }
  const std::string text = text_of(table_of_columns({make_numeric("x", numbers)}), RowText::json_arrays);
  const char* at = text.c_str();
  for (const double number : numbers) {
    char* end = nullptr;
    const double read = std::strtod(at + 1, &end);
    ASSERT_EQ(std::memcmp(&read, &number, sizeof read), 0) << number;
    at = end + 2;  // "],"
  }
}

TEST(RowText, DatesHaveTheCoarsestUnitThatLosesNothing) {
  const auto unit_of = [](std::vector<double> days) { return date_unit(make_numeric("d", days, ValueType::date)); };
  EXPECT_EQ(unit_of({0, -1, std::nan("")}), DateUnit::day);
  EXPECT_EQ(unit_of({0, 0.5}), DateUnit::second);
  EXPECT_EQ(unit_of({0.5, 1 / 86400e3}), DateUnit::millisecond);
  EXPECT_EQ(unit_of({1 / 86400e6}), DateUnit::microsecond);
  EXPECT_EQ(unit_of({1e-12}), DateUnit::none);
  EXPECT_EQ(unit_of({1e9}), DateUnit::none);
  EXPECT_EQ(date_unit(make_numeric("x", {1})), DateUnit::none);
  std::string out;
  EXPECT_TRUE(append_date(out, 19782, DateUnit::day) && append_date(out, 0.5, DateUnit::second));
  EXPECT_FALSE(append_date(out, 0.5, DateUnit::day) || append_date(out, 1, DateUnit::none));
  EXPECT_EQ(out, "2024-02-291970-01-01T12:00:00");
  out.clear();
  EXPECT_TRUE(append_date(out, 1 / 86400e6, DateUnit::microsecond));
  EXPECT_EQ(out, "1970-01-01T00:00:00.000001");
}

TEST(RowText, WrongCodesAndNamesAreRefused) {
  Table table = table_of_columns({make_nominal("b", {0}, Values({"x"}))});
  table.columns.front().values = {};
  expect_error(ErrorCode::invalid_argument, "column 'b', row 0: code 0 is outside its 0 values",
               [&] { text_of(table, RowText::json_arrays); });
  expect_error(ErrorCode::invalid_argument, "rows have no text form 'xml'", [&] { row_text("xml"); });
  EXPECT_EQ(row_text("json_objects"), RowText::json_objects);
  RunOptions run;
  run.cancel.cancel();
  std::string out;
  expect_error(ErrorCode::cancelled, "cancelled", [&] { append_rows(out, small_table(), RowText::json_arrays, run); });
}

}  // namespace
}  // namespace stope
