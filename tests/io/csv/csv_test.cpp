// How the CSV reader reads files, option by option, and where it places each error.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/fault.hpp"
#include "expect_error.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Table read(std::string_view text, const ReadOptions& options = {}, const Schema* schema = nullptr,
           const RunOptions& run = {}) {
  return read_csv({text, nullptr, "t.csv", 0}, options, schema, run);
}

// Compares the numbers of a column; NaN equals NaN.
void expect_numbers(const Column& column, const std::vector<double>& expected) {
  ASSERT_FALSE(column.nominal()) << column.name;
  ASSERT_EQ(column.size(), static_cast<std::int64_t>(expected.size())) << column.name;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = column.at(static_cast<std::int64_t>(i));
    EXPECT_TRUE(value == expected[i] || (std::isnan(value) && std::isnan(expected[i])))
        << column.name << "[" << i << "] = " << value << ", not " << expected[i];
  }
}

// Returns the values of a nominal column as text, missing ones as "-".
std::vector<std::string> texts(const Column& column) {
  std::vector<std::string> result;
  for (std::int64_t i = 0; i < column.size(); ++i) {
    const std::int32_t code = column.codes()[i];
    result.push_back(code < 0 ? "-" : column.values[static_cast<std::size_t>(code)]);
  }
  return result;
}

using Texts = std::vector<std::string>;

// Expects the error and its place; returns the message.
std::string expect_fault(std::string_view text, ErrorCode code, std::int64_t line, std::int64_t column,
                         const ReadOptions& options = {}, const Schema* schema = nullptr) {
  try {
    read(text, options, schema);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_EQ(error.column(), column) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error for: " << text;
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Csv, ReadsNumbersAndNames) {
  const Table table = read("a,b,c\n1,2.5,x\n-3,4e2,y\n,?,NA\n");
  EXPECT_EQ(table.n_rows, 3);
  EXPECT_EQ(table.source, "t.csv");
  expect_numbers(table.columns[0], {1, -3, kNaN});
  expect_numbers(table.columns[1], {2.5, 400, kNaN});
  EXPECT_EQ(texts(table.columns[2]), (Texts{"x", "y", "-"}));
  EXPECT_EQ(table.columns[0].type, ValueType::integer);
  EXPECT_EQ(table.columns[1].type, ValueType::real);
  EXPECT_EQ(table.columns[2].type, ValueType::polynominal);
}

TEST(Csv, IntegerMeansWholeAndExact) {
  const Table table = read("a,b,c,d,e\n1.0,9007199254740991,9007199254740992,-0,\n2,1,1,3,\n");
  EXPECT_EQ(table.columns[0].type, ValueType::integer);
  EXPECT_EQ(table.columns[1].type, ValueType::integer);
  EXPECT_EQ(table.columns[2].type, ValueType::real);
  EXPECT_EQ(table.columns[3].type, ValueType::integer);
  EXPECT_TRUE(std::signbit(table.columns[3].at(0)));
  EXPECT_EQ(table.columns[4].type, ValueType::real);  // all missing
  expect_numbers(table.columns[4], {kNaN, kNaN});
}

TEST(Csv, LineEndsAndByteOrderMark) {
  for (const std::string& end : {std::string("\n"), std::string("\r\n"), std::string("\r")}) {
    for (const std::string& last : {std::string(), end}) {
      const Table table = read(
          "\xEF\xBB\xBF"
          "a,b" +
          end + "1,x" + end + "2,y" + last);
      ASSERT_EQ(table.columns[0].name, "a");
      expect_numbers(table.columns[0], {1, 2});
      EXPECT_EQ(texts(table.columns[1]), (Texts{"x", "y"}));
    }
  }
}

TEST(Csv, QuotesProtectEverything) {
  const Table table = read("k,\"the, name\"\n1,\" a \"\n2,\"x, \"\"y\"\"\r\nz\"\n3,\"\"\n4, \"q\" \n5,5\" disk\n");
  EXPECT_EQ(table.columns[1].name, "the, name");
  EXPECT_EQ(texts(table.columns[1]), (Texts{" a ", "x, \"y\"\r\nz", "-", "q", "5\" disk"}));
}

TEST(Csv, QuotedNumbersAreNumbersAndQuotedTokensDependOnTheColumn) {
  const Table table = read("a,b\n\"1.5\",\"NA\"\n\"NA\",NA\n2,x\n");
  expect_numbers(table.columns[0], {1.5, kNaN, 2});
  EXPECT_EQ(texts(table.columns[1]), (Texts{"NA", "-", "x"}));
}

TEST(Csv, BlanksAroundUnquotedFieldsGo) {
  const Table table = read(" a ,\tb\n 1 , x y \t\n2,  \n");
  EXPECT_EQ(table.columns[0].name, "a");
  EXPECT_EQ(table.columns[1].name, "b");
  expect_numbers(table.columns[0], {1, 2});
  EXPECT_EQ(texts(table.columns[1]), (Texts{"x y", "-"}));
}

TEST(Csv, EmptyLinesAreNoRecordsUnlessTheyAreTheOnlyColumn) {
  EXPECT_EQ(read("\n\na,b\n\n1,2\n  \n3,4\n\n\n").n_rows, 2);
  expect_numbers(read("a\n1\n\n3\n").columns[0], {1, kNaN, 3});
  expect_numbers(read("a\n1\n\n").columns[0], {1, kNaN});
  ReadOptions no;
  no.header = Header::no;
  expect_numbers(read("\n1\n", no).columns[0], {kNaN, 1});
}

TEST(Csv, SniffsTheSeparator) {
  for (const char separator : {',', ';', '\t', '|'}) {
    std::string text = "a?b?c\n1?x-y?2\n3?\"|;\t,\"?4\n";
    for (char& c : text) c = c == '?' ? separator : c;
    const Table table = read(text);
    ASSERT_EQ(table.columns.size(), 3U) << separator;
    expect_numbers(table.columns[2], {2, 4});
  }
  EXPECT_EQ(read("a,b\n1,2\n").columns.size(), 2U);
  EXPECT_EQ(read("name\nx y\n").columns.size(), 1U);
}

TEST(Csv, DecimalMark) {
  ReadOptions options;
  options.decimal = ',';
  const Table table = read("a;b\n1,5;x\n-0,25;y\n,5;z\n", options);
  expect_numbers(table.columns[0], {1.5, -0.25, 0.5});
  EXPECT_TRUE(read("a;b\n1.5;x\n", options).columns[0].nominal());
  options.separator = ',';
  expect_fault("a,b\n", ErrorCode::invalid_argument, 0, 0, options);
}

TEST(Csv, HeaderYesNoAutomaticAndNames) {
  EXPECT_EQ(read("1,2\n3,4\n").n_rows, 2);  // all numbers: no header
  EXPECT_EQ(read("1,2\n3,4\n").columns[1].name, "2");
  EXPECT_EQ(read("?,\n3,4\n").n_rows, 2);
  EXPECT_EQ(read("a,2\n3,4\n").n_rows, 1);
  ReadOptions options;
  options.header = Header::yes;
  EXPECT_EQ(read("1,2\n3,4\n", options).columns[0].name, "1");
  EXPECT_EQ(read("1,2\n3,4\n", options).n_rows, 1);
  EXPECT_EQ(read(",b\n3,4\n", options).columns[0].name, "1");  // a column of row names
  options.header = Header::no;
  EXPECT_EQ(read("a,b\nc,d\n", options).n_rows, 2);
  options.names = {"x", "y"};
  EXPECT_EQ(read("a,b\nc,d\n", options).columns[1].name, "y");
  options.header = Header::yes;
  EXPECT_EQ(read("a,b\nc,d\n", options).n_rows, 1);  // replaced
  EXPECT_EQ(read("a,b\nc,d\n", options).columns[1].name, "y");
  options.header = Header::automatic;
  EXPECT_EQ(read("a,b\nc,d\n", options).n_rows, 2);  // given names: no header
  EXPECT_EQ(read("a,b\nc,d\n", options).columns[1].name, "y");
  EXPECT_EQ(read("\"1\",\"2\"\n3,4\n", options).n_rows, 2);
  EXPECT_EQ(read("\n1\n", {.separator = ',', .names = {"x"}}).n_rows, 2);  // an empty line is a missing value
  options.names = {"x"};
  expect_fault("a,b\n", ErrorCode::invalid_argument, 0, 0, options);
  options.names = {"x", "x"};
  expect_fault("a,b\n", ErrorCode::invalid_argument, 0, 0, options);
}

TEST(Csv, MissingTokensCanBeNumbers) {
  ReadOptions options;
  options.missing = {"-999", "none"};
  const Table table = read("a,b\n-999,?\n1,none\nnone,-999\n", options);
  expect_numbers(table.columns[0], {kNaN, 1, kNaN});
  EXPECT_EQ(texts(table.columns[1]), (Texts{"?", "-", "-"}));
}

TEST(Csv, UnusualNumbers) {
  const Table table = read("a\ninf\n-Infinity\n+1\n.5\n5.\n1e400\n-1e-400\n123456789012345678901234567890.\nnan\n");
  expect_numbers(table.columns[0],
                 {kInfinity, -kInfinity, 1, 0.5, 5, kInfinity, -0.0, 123456789012345678901234567890.0, kNaN});
  for (const char* text : {"0x1F", "1_000", "1 000", "1e", "e5", "--1", "+-1", ".", "-", "1.2.3", "1,5", "infinit"}) {
    ReadOptions options;
    options.separator = ';';
    options.decimal = '.';
    EXPECT_TRUE(read("a\n1\n" + std::string(text) + "\n", options).columns[0].nominal()) << text;
  }
}

TEST(Csv, NominalOrder) {
  EXPECT_EQ(read("a\nb\nB\n10\nä\n9\nb\n").columns[0].values, (Texts{"10", "9", "B", "b", "ä"}));
  ReadOptions options;
  options.nominal_order = NominalOrder::appearance;
  EXPECT_EQ(read("a\nb\nB\n10\nä\n9\nb\n", options).columns[0].values, (Texts{"b", "B", "10", "ä", "9"}));
}

TEST(Csv, OrderOfManyValuesDoesNotDependOnChunks) {
  std::string text = "a,b\n";
  for (int i = 0; i < 5000; ++i) text += "v" + std::to_string(i * 7919 % 5000) + "," + std::to_string(i) + "\n";
  ReadOptions options;
  options.nominal_order = NominalOrder::appearance;
  setenv("STOPE_CSV_CHUNK", "1000", 1);
  RunOptions run;
  run.threads = 3;
  const Table table = read(text, options, nullptr, run);
  const Table sorted = read(text, {}, nullptr, run);
  unsetenv("STOPE_CSV_CHUNK");
  ASSERT_EQ(table.columns[0].values.size(), 5000U);
  for (std::int64_t i = 0; i < 5000; ++i) ASSERT_EQ(table.columns[0].codes()[i], i);
  EXPECT_TRUE(std::is_sorted(sorted.columns[0].values.begin(), sorted.columns[0].values.end()));
  EXPECT_EQ(texts(sorted.columns[0]), texts(table.columns[0]));
}

TEST(Csv, AColumnThatTurnsOutToBeTextFarDownIsReadAgain) {
  std::string text = "a,b\n";
  for (int i = 0; i < 3000; ++i) text += std::to_string(i) + "," + (i == 2999 ? "x" : "1") + "\n";
  const Table table = read(text);
  EXPECT_EQ(table.columns[0].type, ValueType::integer);
  EXPECT_EQ(table.columns[1].values, (Texts{"1", "x"}));
  EXPECT_EQ(table.columns[1].codes()[2998], 0);
  EXPECT_EQ(table.columns[1].codes()[2999], 1);
}

TEST(Csv, DeclaredTypes) {
  ReadOptions options;
  options.nominal = {"a"};
  options.numeric = {"2"};
  const Table table = read("a,b\n01,1\n1,\n1.0,3\n", options);
  EXPECT_EQ(table.columns[0].values, (Texts{"01", "1", "1.0"}));
  expect_numbers(table.columns[1], {1, kNaN, 3});
  const std::string message = expect_fault("a,b\n1,2\n1, 1x\n", ErrorCode::invalid_data, 3, 4, options);
  EXPECT_TRUE(contains(message, "t.csv:3:4: column 'b': '1x' is not a number")) << message;
  options.target = "b";
  options.target_is_nominal = true;
  options.numeric.clear();
  EXPECT_EQ(read("a,b\n1,2.50\n", options).columns[1].values, (Texts{"2.50"}));
}

TEST(Csv, SchemaGivesTypesValuesAndOrder) {
  Schema schema;
  schema.columns = {{"x", ValueType::integer, Role::regular, {}},
                    {"when", ValueType::date, Role::regular, {}},
                    {"label", ValueType::binominal, Role::label, {"yes", "no"}}};
  const Table table = read("label,x,when\nno,1.0,1970-01-02\n,?,\nyes,3,2000-02-29\n", {}, &schema);
  EXPECT_EQ(table.columns[0].values, (Texts{"yes", "no"}));
  EXPECT_EQ(table.columns[0].type, ValueType::binominal);
  EXPECT_EQ(texts(table.columns[0]), (Texts{"no", "-", "yes"}));
  EXPECT_EQ(table.columns[1].type, ValueType::integer);
  EXPECT_EQ(table.columns[2].type, ValueType::date);
  expect_numbers(table.columns[2], {1, kNaN, 11016});

  ReadOptions no;
  no.header = Header::no;
  EXPECT_EQ(read("1,1970-01-01,no\n", no, &schema).columns[2].name, "label");
  std::string message = expect_fault("x,when,label\n1,,maybe\n", ErrorCode::invalid_data, 2, 4, {}, &schema);
  EXPECT_TRUE(contains(message, "column 'label': 'maybe' is not among the schema's values")) << message;
  message = expect_fault("x,when,label\n1,2001-02-29,yes\n", ErrorCode::invalid_data, 2, 3, {}, &schema);
  EXPECT_TRUE(contains(message, "'2001-02-29' is not an ISO date")) << message;
  message = expect_fault("x,wen,label\n", ErrorCode::invalid_data, 0, 0, {}, &schema);
  EXPECT_TRUE(contains(message, "'wen' is not in the schema (did you mean 'when'?)")) << message;
  expect_fault("x,when\n", ErrorCode::invalid_data, 0, 0, {}, &schema);
}

TEST(Csv, SchemaTokenReplacesTheDefaults) {
  Schema schema;
  schema.columns = {{"a", ValueType::nominal, Role::regular, {}}};
  schema.missing_token = "";
  EXPECT_EQ(texts(read("a\n?\nNA\n\n", {}, &schema).columns[0]), (Texts{"?", "NA", "-"}));
  ReadOptions options;
  options.missing = {"NA"};
  EXPECT_EQ(texts(read("a\n?\nNA\n\n", options, &schema).columns[0]), (Texts{"?", "-", "-"}));
}

TEST(Csv, Encodings) {
  ReadOptions options;
  options.encoding = Encoding::latin1;
  EXPECT_EQ(read("a\n\xE4\n", options).columns[0].values, (Texts{"ä"}));
  options.encoding = Encoding::utf16;
  const std::string little(
      "\xFF\xFE"
      "a\0\n\0\x3D\xD8\x00\xDE\n\0",
      12),
      big("\0a\0\n\xD8\x3D\xDE\x00", 8);
  EXPECT_EQ(read(little, options).columns[0].values, (Texts{"\U0001F600"}));
  EXPECT_EQ(read(big, options).columns[0].values, (Texts{"\U0001F600"}));
  const std::string message = expect_fault(little, ErrorCode::invalid_data, 0, 0);
  EXPECT_TRUE(contains(message, "UTF-16")) << message;
  expect_fault(std::string("\xFF\xFE"
                           "a\0\n\0\x3D\xD8x\0",
                           10),
               ErrorCode::invalid_data, 2, 1, options);
  expect_fault(std::string("\xFF\xFE"
                           "a\0b",
                           5),
               ErrorCode::invalid_data, 1, 2, options);
}

TEST(Csv, ErrorsNameTheirPlace) {
  using enum ErrorCode;
  std::string message = expect_fault("a,b\n1,2\n3\n", invalid_data, 3, 1);
  EXPECT_TRUE(contains(message, "t.csv:3:1: expected 2 fields, found 1")) << message;
  message = expect_fault("a,b\n\"x\ny\",2\n3,4,5\n", invalid_data, 4, 5);
  EXPECT_TRUE(contains(message, "expected 2 fields, found 3")) << message;
  message = expect_fault("a,b\n1,\"2\n3,4\n", invalid_data, 2, 3);
  EXPECT_TRUE(contains(message, "never closed")) << message;
  expect_fault("a,b\nö,\"2\"x\n", invalid_data, 2, 6);
  message = expect_fault("a,b,a\n1,2,3\n", invalid_data, 1, 5);
  EXPECT_TRUE(contains(message, "'a'")) << message;
  message = expect_fault(std::string_view("a,b\n1,\0\n", 8), invalid_data, 2, 3);
  EXPECT_TRUE(contains(message, "NUL")) << message;
  message = expect_fault("a,b\n1,\xFF\n", invalid_data, 2, 3);
  EXPECT_TRUE(contains(message, "0xff")) << message;
  expect_fault("a\xC3,b\n1,2\n", invalid_data, 1, 2);
  expect_fault("", invalid_data, 0, 0);
  expect_fault("\n \n", invalid_data, 0, 0);
  expect_fault("\"a", invalid_data, 1, 1);
}

TEST(Csv, HeaderWithoutRowsIsATable) {
  const Table table = read("a,b\n");
  EXPECT_EQ(table.n_rows, 0);
  EXPECT_EQ(table.columns.size(), 2U);
  table.validate();
}

TEST(Csv, WideTable) {
  std::string header, row;
  for (int i = 0; i < 6000; ++i) {
    header += "g" + std::to_string(i) + (i < 5999 ? "," : "\n");
    row += std::to_string(i) + ".5" + (i < 5999 ? "," : "\n");
  }
  const Table table = read(header + row + row);
  EXPECT_EQ(table.n_rows, 2);
  EXPECT_EQ(table.columns[5999].at(1), 5999.5);
}

TEST(Csv, ATableBeyondHalfTheBudgetGoesToAFile) {
  std::string text = "a,b\n";
  for (int i = 0; i < 10000; ++i) text += std::to_string(i) + (i % 3 == 0 ? ",x\n" : ",?\n");
  RunOptions run;
  for (const std::int64_t limit : {240000, 239999}) {  // twice 10,000 x 12 bytes
    run.memory_limit = 2 * kColumnBytes + limit;
    const Table table = read(text, {}, nullptr, run);
    EXPECT_EQ(table.bytes(), 120000 + static_cast<std::int64_t>(sizeof(std::string)) + 1);
    EXPECT_EQ(table.bytes_in_memory(), limit == 240000 ? table.bytes() : table.bytes() - 120000) << limit;
    for (int i = 0; i < 10000; ++i) {
      ASSERT_EQ(table.columns[0].at(i), i);
      ASSERT_EQ(table.columns[1].missing(i), i % 3 != 0);
    }
  }
}

TEST(Csv, AColumnReadAgainAsNominalMayLieInAFile) {
  std::string text = "a,b\n";
  for (int i = 0; i < 10000; ++i) text += std::to_string(i % 7) + ",1\n";
  text += "text,1\n";
  RunOptions run;
  run.memory_limit = 100000;
  const Table table = read(text, {}, nullptr, run);
  EXPECT_EQ(table.columns[0].values, (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "text"}));
  EXPECT_EQ(table.columns[0].codes().storage(), Storage::memory);  // 40 kB of the limit of 100
  EXPECT_EQ(std::get<Buffer<double>>(table.columns[1].data).storage(), Storage::file);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(table.columns[0].at(i), i % 7);
  EXPECT_EQ(table.columns[0].at(10000), 7);
}

TEST(Csv, TheBudgetCoversTheValuesOfNominalColumns) {
  RunOptions run;
  std::string text = "a,b\n";
  for (int i = 0; i < 10000; ++i) text += "1,a long value that no other row has " + std::to_string(i) + "\n";
  run.memory_limit = 400000;
  try {
    read(text, {}, nullptr, run);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_TRUE(contains(error.what(), "values of its nominal columns")) << error.what();
  }
}

TEST(Csv, EveryAllocationMayFail) {
  std::string text = "a,b\n";
  for (int i = 0; i < 300; ++i) text += "1,v" + std::to_string(i) + "\n";
  int n_failed = 0;
  for (int n = 1; n < 60; ++n) {
    fault::arm_alloc(n);
    try {
      EXPECT_EQ(read(text).n_rows, 300);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      ++n_failed;
    }
    fault::arm_alloc(0);
  }
  EXPECT_GT(n_failed, 3);
}

TEST(Csv, CancelAndProgress) {
  std::string text = "a,b\n";
  for (int i = 0; i < 2000; ++i) text += "1,x\n";
  RunOptions run;
  run.cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled", [&] { read(text, {}, nullptr, run); });
  RunOptions watched;
  std::int64_t last = 0, total = 0;
  watched.progress = [&](std::string_view phase, std::int64_t done, std::int64_t all) {
    EXPECT_EQ(phase, "read");
    EXPECT_GT(done, last);
    last = done;
    total = all;
  };
  setenv("STOPE_CSV_CHUNK", "500", 1);
  read(text, {}, nullptr, watched);
  unsetenv("STOPE_CSV_CHUNK");
  EXPECT_EQ(last, total);
  EXPECT_EQ(total, 8000);
}

TEST(Csv, ABadValueNamesItsColumnInTheError) {
  ReadOptions options;
  options.numeric = {"2"};
  try {
    read("a,b\n1,2\n1, 1x\n", options);
    FAIL() << "1x was read as a number";
  } catch (const Error& error) {
    EXPECT_EQ(error.feature(), "b");
  }
}

TEST(Csv, Utf16WithoutAMarkIsNamed) {
  using namespace std::string_literals;
  for (const std::string& text : {"a\0,\0b\0\n\0"
                                  "1\0,\0"
                                  "2\0\n\0"s,
                                  "\0a\0,\0b\0\n\0"
                                  "1\0,\0"
                                  "2\0\n"s}) {
    const std::string message = expect_fault(text, ErrorCode::invalid_data, 0, 0);
    EXPECT_TRUE(contains(message, "looks like UTF-16 without a byte order mark")) << message;
  }
}

}  // namespace
}  // namespace stope::io
