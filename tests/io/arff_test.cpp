// The ARFF reader: every element of the format, every error with its place, the real files of ../shared/data/mixed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "io/arff_date.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

Table read(std::string_view text, const ReadOptions& options = {}, const RunOptions& run = {}) {
  return read_arff({text, nullptr, "t.arff"}, options, run);
}

/// Reads `text`, expecting an error whose message contains `part` and, where line > 0, names that place.
void expect_fault(std::string_view text, ErrorCode code, std::string_view part, std::int64_t line,
                  std::int64_t column) {
  try {
    read(text);
    ADD_FAILURE() << "no error for: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << text;
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what() << "\n" << text;
    EXPECT_EQ(std::string(error.what()).find("t.arff"), 0U) << error.what();
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_EQ(error.column(), column) << error.what();
  }
}

void expect_invalid(std::string_view text, std::string_view part, std::int64_t line, std::int64_t column) {
  expect_fault(text, ErrorCode::invalid_data, part, line, column);
}

std::vector<double> numbers(const Column& column) {
  std::vector<double> values;
  for (std::int64_t row = 0; row < column.size(); ++row) values.push_back(column.at(row));
  return values;
}

std::string cell(const Table& table, std::string_view name, std::int64_t row) {
  const Column& column = table.columns[static_cast<std::size_t>(table.find(name))];
  if (column.missing(row)) return "<missing>";
  return column.values[static_cast<std::size_t>(column.codes()[row])];
}

TEST(Arff, DenseTypesAndMissing) {
  const Table table = read(
      "% a comment\n"
      "@RELATION 'weather data'\n"
      "\n"
      "@Attribute temperature REAL\n"
      "@attribute\thumidity\tNumeric % trailing comment\n"
      "@attribute count integer\n"
      "@attribute 'wind speed' {low, 'very high' , \"high\"}\n"
      "@DATA\n"
      "1.5, -2e3 ,7,low\n"
      "% in between\n"
      "?,?,?,?\n"
      "\n"
      "+.5\t1\t-0\t'very high'\n"
      "nan,-Infinity,0,\"high\"");
  ASSERT_EQ(table.n_rows, 4);
  ASSERT_EQ(table.columns.size(), 4U);
  table.validate();
  EXPECT_EQ(table.source, "t.arff");
  EXPECT_EQ(table.columns[0].type, ValueType::real);
  EXPECT_EQ(table.columns[2].type, ValueType::integer);
  EXPECT_EQ(table.columns[3].type, ValueType::nominal);
  EXPECT_EQ(table.columns[3].values, (std::vector<std::string>{"low", "very high", "high"}));
  EXPECT_EQ(table.columns[0].at(0), 1.5);
  EXPECT_EQ(table.columns[1].at(0), -2000);
  EXPECT_TRUE(table.columns[0].missing(1) && table.columns[2].missing(1) && table.columns[3].missing(1));
  EXPECT_EQ(table.columns[0].at(2), 0.5);
  EXPECT_TRUE(std::signbit(table.columns[2].at(2)));
  EXPECT_EQ(cell(table, "wind speed", 2), "very high");
  EXPECT_TRUE(table.columns[0].missing(3));
  EXPECT_EQ(table.columns[1].at(3), -HUGE_VAL);
  EXPECT_EQ(cell(table, "wind speed", 3), "high");
}

TEST(Arff, LineEndsAndByteOrderMark) {
  const std::string unix_text = "@relation r\n@attribute x real\n@attribute y {a,b}\n@data\n1,a\n2,b\n";
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
      std::string text = mark;
      for (const char c : unix_text) text += c == '\n' ? end : std::string(1, c);
      for (int cut = 0; cut < 2; ++cut) {  // without the last line's end, too
        const Table table = read(cut == 0 ? text : text.substr(0, text.size() - end.size()));
        EXPECT_EQ(numbers(table.columns[0]), (std::vector<double>{1, 2}));
        EXPECT_EQ(numbers(table.columns[1]), (std::vector<double>{0, 1}));
      }
      expect_error(ErrorCode::invalid_data, "t.arff:7:2: the row has 1 value", [&] { read(text + "3" + end); });
      try {
        read(text + "3" + end);
      } catch (const Error& error) {
        EXPECT_EQ(error.line(), 7) << "with another line end";
      }
    }
  }
}

TEST(Arff, QuotesAndEscapes) {
  const Table table = read(
      "@relation r\n"
      "@attribute 'it\\'s' {'a\\'b', \"c'd\", 'e\"f', 'g\\\\h', 'i\\tj', 'k\\nl', 'm%n', '?', '', 'o,p', '{q}', "
      "'\\101\\60\\351', 50%, \xC3\xA9t\xC3\xA9}\n"
      "@data\n"
      "'a\\'b'\n\"c'd\"\n'e\"f'\n'g\\\\h'\n'i\\tj'\n\"k\\nl\"\n'm%n'\n'?'\n''\n'o,p'\n'{q}'\nA0\xC3\xA9\n50%"
      "\n\xC3\xA9t\xC3\xA9\n?\n");
  ASSERT_EQ(table.n_rows, 15);
  EXPECT_EQ(table.columns[0].name, "it's");
  EXPECT_EQ(table.columns[0].values,
            (std::vector<std::string>{"a'b", "c'd", "e\"f", "g\\h", "i\tj", "k\nl", "m%n", "?", "", "o,p", "{q}",
                                      "A0\xC3\xA9", "50%", "\xC3\xA9t\xC3\xA9"}));
  for (std::int64_t row = 0; row < 14; ++row) EXPECT_EQ(table.columns[0].codes()[row], row);
  EXPECT_TRUE(table.columns[0].missing(14));
}

TEST(Arff, EscapesOfCAndBlanksOfEveryKind) {
  const Table table = read(
      "@relation r\n@attribute\fs\vstring\n@attribute \"q\" string\n@data\n"
      "'\\a\\b\\f\\v\\r', \t'\\1018'\n'\\7x'\f,\v\"\\18\"\t\n'\\0', b \n");
  EXPECT_EQ(table.columns[0].name, "s");
  EXPECT_EQ(table.columns[1].name, "q");
  EXPECT_EQ(cell(table, "s", 0), "\a\b\f\v\r");
  EXPECT_EQ(cell(table, "q", 0), "A8");
  EXPECT_EQ(cell(table, "s", 1), "\007x");
  EXPECT_EQ(cell(table, "q", 1), "\0018");
  EXPECT_EQ(cell(table, "q", 2), "b");
}

TEST(Arff, KeelsOtherWordsForInputsAndOutputs) {
  const Table table =
      read("@relation r\n@attribute x real[0,1]\n@attribute y {a,b}\n@input x\n@output y\n@data\n0.5,<null>\n");
  EXPECT_EQ(table.columns[0].at(0), 0.5);
  EXPECT_EQ(cell(table, "y", 0), "<missing>");
}

TEST(Arff, SparseRows) {
  const Table table = read(
      "@relation r\n@attribute a real\n@attribute b {first,second}\n@attribute s string\n@attribute i integer\n"
      "@attribute e {}\n@data\n"
      "{}\n{0 5, 1 second, 2 'text', 3 7}\n{ 1 ? , 3 -1 }\n{3 2}\n1,second,q,3,?\n{0 ?}\n");
  ASSERT_EQ(table.n_rows, 6);
  EXPECT_EQ(table.columns[0].at(0), 0);
  EXPECT_EQ(cell(table, "b", 0), "first");
  EXPECT_EQ(cell(table, "s", 0), "<missing>");
  EXPECT_EQ(cell(table, "e", 0), "<missing>");
  EXPECT_EQ(table.columns[0].at(1), 5);
  EXPECT_EQ(cell(table, "b", 1), "second");
  EXPECT_EQ(cell(table, "s", 1), "text");
  EXPECT_EQ(cell(table, "b", 2), "<missing>");
  EXPECT_EQ(table.columns[3].at(2), -1);
  EXPECT_EQ(cell(table, "s", 4), "q");
  EXPECT_TRUE(table.columns[0].missing(5));
  EXPECT_EQ(cell(table, "b", 5), "first");
}

TEST(Arff, InstanceWeights) {
  const Table table =
      read("@relation r\n@attribute x real\n@attribute weight real\n@data\n1,2\n3,4,{0.5}\n5,6 {2}\n{0 7}, {3}\n");
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[2].name, "weight_2");
  EXPECT_EQ(table.columns[2].role, Role::weight);
  EXPECT_EQ(numbers(table.columns[2]), (std::vector<double>{1, 0.5, 2, 3}));
  EXPECT_EQ(read("@relation r\n@attribute x real\n@data\n1\n").columns.size(), 1U) << "no column without weights";
  EXPECT_EQ(read("@relation r\n@attribute x real\n@data\n1,{1}\n").columns[1].name, "weight");
}

TEST(Arff, StringsBecomeNominal) {
  const char* text = "@relation r\n@attribute s string\n@data\nb\nC\na\n?\nb\n'\xC3\xA9'\n";
  ReadOptions options;
  Table table = read(text, options);
  EXPECT_EQ(table.columns[0].values, (std::vector<std::string>{"C", "a", "b", "\xC3\xA9"}));
  options.nominal_order = NominalOrder::appearance;
  const Table appearance = read(text, options);
  EXPECT_EQ(appearance.columns[0].values, (std::vector<std::string>{"b", "C", "a", "\xC3\xA9"}));
  for (std::int64_t row = 0; row < 6; ++row) EXPECT_EQ(cell(table, "s", row), cell(appearance, "s", row));
}

TEST(Arff, Dates) {
  const Table table = read(
      "@relation r\n@attribute d date yyyy-MM-dd\n@attribute t DATE\n"
      "@attribute b date \"yyyy-MM-dd HH:mm:ss\"\n@attribute q date 'yyyy-MM-dd\\'T\\'HH:mm:ss'\n@data\n"
      "1970-01-01,1970-01-02T12:00:00,'1969-12-31 06:00:00',\"2000-02-29T00:00:01\"\n?,?,?,?\n");
  EXPECT_EQ(table.columns[0].type, ValueType::date);
  EXPECT_EQ(table.columns[0].at(0), 0);
  EXPECT_EQ(table.columns[1].at(0), 1.5);
  EXPECT_EQ(table.columns[2].at(0), -0.75);
  EXPECT_EQ(table.columns[3].at(0), (11016.0 * 86400 + 1) / 86400);
  for (const Column& column : table.columns) EXPECT_TRUE(column.missing(1));
}

TEST(Arff, DatePatternsOfDigits) {
  const Table table = read(
      "@relation r\n@attribute a date dd.MM.yyyy\n@attribute b date M/d/yyyy\n@attribute c date yyyyMMdd\n"
      "@attribute e date \"yyyy-MM-dd'T'HH:mm:ss.SSS\"\n@attribute f date HH:mm\n@data\n"
      "02.01.1970,1/2/1970,19700102,1970-01-02T00:00:00.250,06:00\n");
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(table.columns[c].at(0), 1) << c;
  EXPECT_EQ(table.columns[3].at(0), (86400 + 0.25) / 86400);
  EXPECT_EQ(table.columns[4].at(0), 0.25);
}

TEST(Arff, KeelsHeaderRangesAndMissingValues) {
  const Table table = read(
      "@relation iris\n@attribute SepalLength real [4.3, 7.9]\n@attribute Width real[2.0,4.4]\n"
      "@attribute n integer [1, 5]\n@attribute Class {setosa, virginica}\n"
      "@inputs SepalLength, Width, n\n@outputs Class\n@data\n5.1, 3.5, 1, setosa\n<null>, 3.0, 2, <null>\n");
  EXPECT_EQ(table.columns[0].name, "SepalLength");
  EXPECT_EQ(table.columns[1].name, "Width");
  EXPECT_EQ(table.columns[2].type, ValueType::integer);
  EXPECT_EQ(table.columns[0].at(0), 5.1);
  EXPECT_TRUE(table.columns[0].missing(1));
  EXPECT_EQ(cell(table, "Class", 1), "<missing>");
  expect_invalid("@relation r\n@attribute x real\n@data\n<null>\n", "not a number", 4, 1);
}

TEST(Arff, ANumberThatADoubleRoundsIsAWarning) {
  std::string warned;
  RunOptions run;
  run.warn = [&](std::string_view, std::string_view text) { warned = text; };
  read("@relation r\n@attribute id numeric\n@data\n1\n9007199254740993\n", {}, run);
  EXPECT_EQ(
      warned,
      "attribute 'id' is numeric as declared, which changes '9007199254740993' (t.arff:5:1) to 9007199254740992.0");
}

TEST(Arff, DateCalendar) {
  double days = 0;
  const DatePattern date = DatePattern::parse("yyyy-MM-dd").value();
  const DatePattern date_time = DatePattern::parse("yyyy-MM-dd'T'HH:mm:ss").value();
  for (const char* bad : {"2001-02-29", "1900-02-29", "2000-13-01", "2000-00-10", "2000-01-00", "2000-04-31",
                          "200-01-01", "2000-1-01", "2000/01/01", " 2000-01-01", "2000-01-011", "-200-01-01", ""}) {
    EXPECT_FALSE(date.read(bad, days)) << bad;
  }
  for (const char* bad : {"2000-01-01T24:00:00", "2000-01-01T00:60:00", "2000-01-01T00:00:60", "2000-01-01 00:00:00",
                          "2000-01-01", "2000-01-01T00:00:00Z"}) {
    EXPECT_FALSE(date_time.read(bad, days)) << bad;
  }
  // Every day of four centuries around 1970 follows the one before it, and is written as it was read.
  std::string text;
  for (std::int64_t day = -100000; day < 50000; ++day) {
    text.clear();
    ASSERT_TRUE(append_date(text, DateFormat::date, static_cast<double>(day)));
    ASSERT_TRUE(date.read(text, days));
    ASSERT_EQ(days, day);
  }
  for (const double odd : {-0.0, 1e300, -1e9, std::nan(""), 0.1234567, 2932897.0, -719529.0}) {
    text.clear();
    EXPECT_FALSE(append_date(text, DateFormat::date_time, odd)) << odd;
    EXPECT_TRUE(text.empty());
  }
  EXPECT_TRUE(append_date(text, DateFormat::date, -719528)) << "0000-01-01";
  EXPECT_EQ(text, "0000-01-01");
  text.clear();
  EXPECT_TRUE(append_date(text, DateFormat::date_time, -1.0 / 86400));
  EXPECT_EQ(text, "1969-12-31T23:59:59");
}

TEST(Arff, DatePatternsMayHoldQuotesAndFractions) {
  double days = 0;
  const DatePattern quotes = DatePattern::parse("HH''mm'at'").value();
  EXPECT_TRUE(quotes.read("06'30at", days));
  EXPECT_EQ(days, 6.5 / 24);
  EXPECT_FALSE(quotes.read("06'30", days));
  EXPECT_FALSE(quotes.read("06'3:at", days));
  EXPECT_FALSE(DatePattern::parse("").has_value());
  EXPECT_FALSE(DatePattern::parse("yyyy'T").has_value()) << "a quote that is not closed";
  std::string text;
  EXPECT_TRUE(append_date(text, DateFormat::date_millis, 0.25 + 0.5 / 86400));
  EXPECT_EQ(text, "1970-01-01T06:00:00.500");
}

TEST(Arff, RapidMinersWriter) {
  const Table table = read(
      "@RELATION RapidMinerData\r\n\r\n@ATTRIBUTE 'Outlook' {'rain','overcast','sunny'}\r\n"
      "@ATTRIBUTE 'Temperature' real\r\n@ATTRIBUTE 'Play' {'no','yes'}\r\n\r\n@DATA\r\n"
      "'sunny',85.0,'no'\r\n?,?,'yes'\r\n'rain',70.0,?\r\n");
  ASSERT_EQ(table.n_rows, 3);
  EXPECT_EQ(table.columns[0].values, (std::vector<std::string>{"rain", "overcast", "sunny"}));
  EXPECT_EQ(cell(table, "Outlook", 0), "sunny");
  EXPECT_EQ(cell(table, "Outlook", 1), "<missing>");
  EXPECT_EQ(cell(table, "Play", 1), "yes");
  EXPECT_EQ(cell(table, "Play", 2), "<missing>");
}

TEST(Arff, NoRows) {
  const Table table = read("@relation r\n@attribute x real\n@attribute y {a}\n@data\n% nothing\n\n");
  EXPECT_EQ(table.n_rows, 0);
  EXPECT_EQ(table.columns.size(), 2U);
  table.validate();
}

TEST(Arff, Encodings) {
  ReadOptions options;
  options.encoding = Encoding::latin1;
  EXPECT_EQ(read("@relation r\n@attribute \xE9 {\xFC}\n@data\n\xFC\n", options).columns[0].name, "\xC3\xA9");
  options.encoding = Encoding::utf16;
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("@relation r\n@attribute x real\n@data\n5\n")) wide += {c, '\0'};
  EXPECT_EQ(read(wide, options).columns[0].at(0), 5);
  expect_invalid("@relation r\n@attribute x\xE9 real\n@data\n1\n", "UTF-8", 2, 13);
  expect_error(ErrorCode::invalid_data, "is UTF-16 by its byte order mark", [&] { read(wide); });
}

constexpr const char* kHeader = "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n";

TEST(Arff, BadRows) {
  const std::string head = kHeader;
  expect_invalid(head + "1,a\n2,q\n", "'q' of attribute 'y' is not in its list", 6, 3);
  expect_invalid(head + "one,a\n", "'one' of attribute 'x' is not a number", 5, 1);
  expect_invalid(head + "1x,a\n", "'1x'", 5, 1);
  expect_invalid(head + "1\n", "1 value, the header declares 2 attributes", 5, 2);
  expect_invalid(head + "1,\n", "1 value", 5, 3);
  expect_invalid("@relation r\n@attribute x real\n@data\n1,2\n", "more than 1 value", 4, 3);
  expect_invalid(head + "1,a,3\n", "more than 2 values", 5, 5);
  expect_invalid(head + "1,a,\n", "comma after the last value", 5, 5);
  expect_invalid(head + "1,,a\n", "empty field", 5, 3);
  expect_invalid(head + ",a\n", "empty field", 5, 1);
  expect_invalid(head + "1,'a\n", "unterminated quote", 5, 3);
  expect_invalid(head + "1,'a\\'\n", "unterminated quote", 5, 3);
  expect_invalid(head + "1,'a'b\n", "closing quote", 5, 6);
  expect_invalid(head + "1,a'b'\n", "quote inside", 5, 4);
  expect_invalid(head + "1,a,{x}\n", "'x' is not a finite number", 5, 6);
  expect_invalid(head + "1,a,{inf}\n", "finite", 5, 6);
  expect_invalid(head + "1,a,{1\n", "'}' after the row weight", 5, 7);
  expect_invalid(head + "1,a,{\n", "closing '}'", 5, 6);
  expect_invalid(head + "1,a,{1} 2\n", "after the row weight", 5, 9);
  expect_invalid(head + "1,{2}\n", "1 value,", 5, 3);
  expect_invalid(head + "1}a\n", "expected ','", 5, 2);
  expect_invalid(head + "'\xC3\xA9',a\n", "is not a number", 5, 1);
  expect_invalid("@relation r\n@attribute x string\n@attribute y {a}\n@data\n\xC3\xA9\xC3\xA9,b\n", "'b'", 5, 4);
}

TEST(Arff, BadSparseRows) {
  const std::string head = kHeader;
  expect_invalid(head + "{7 1}\n", "'7' is beyond the last attribute, 1", 5, 2);
  expect_invalid(head + "{1 b,0 1}\n", "'0' does not ascend: it follows 1", 5, 6);
  expect_invalid(head + "{0 1,0 1}\n", "does not ascend", 5, 6);
  expect_invalid(head + "{-1 1}\n", "whole number", 5, 2);
  expect_invalid(head + "{0.5 1}\n", "whole number", 5, 2);
  expect_invalid(head + "{nan 1}\n", "whole number", 5, 2);
  expect_invalid(head + "{x 1}\n", "whole number", 5, 2);
  expect_invalid(head + "{0 1\n", "expected ',' or '}'", 5, 5);
  expect_invalid(head + "{0 1,\n", "closing '}'", 5, 6);
  expect_invalid(head + "{0}\n", "expected a value after the index 0", 5, 3);
  expect_invalid(head + "{0 }\n", "expected a value", 5, 4);
  expect_invalid(head + "{\n", "closing '}'", 5, 2);
  expect_invalid(head + "{0 1}}\n", "more than 2 values", 5, 6);
  expect_invalid(head + "{1 q}\n", "'q' of attribute 'y'", 5, 4);
  expect_invalid(head + "{0 1} 5\n", "more than 2 values", 5, 7);
}

TEST(Arff, BadHeaders) {
  expect_invalid("", "without @data", 0, 0);
  expect_invalid("@relation r\n@attribute x numeric\n", "without @data", 2, 0);
  expect_invalid("@relation r\n@data\n1\n", "no @attribute", 2, 1);
  expect_invalid("hello\n", "expected @relation, @attribute or @data, not 'hello'", 1, 1);
  expect_invalid("@relation r\n@atribute x real\n", "did you mean '@attribute'", 2, 1);
  expect_invalid("@relation r\n@attribute x imaginary\n@data\n", "unknown type 'imaginary'", 2, 14);
  expect_invalid("@relation r\n@attribute x numerc\n@data\n", "did you mean 'numeric'", 2, 14);
  expect_invalid("@relation r\n@attribute x\n@data\n", "'x' has no type", 2, 13);
  expect_invalid("@relation r\n@attribute\n@data\n", "without a name", 2, 11);
  expect_invalid("@relation r\n@attribute '' real\n@data\n", "without a name", 2, 12);
  expect_invalid("@relation r\n@attribute x real\n@attribute x {a}\n@data\n", "second attribute named 'x'", 3, 1);
  expect_invalid("@relation r\n@attribute y {a,b\n@data\n", "expected ',' or '}'", 2, 18);
  expect_invalid("@relation r\n@attribute y {a,\n@data\n", "expected a value", 2, 17);
  expect_invalid("@relation r\n@attribute y {a,b,a}\n@data\n", "lists the value 'a' twice", 2, 19);
  expect_invalid("@relation r\n@attribute y {a,,b}\n@data\n", "expected a value", 2, 17);
  expect_invalid("@relation r\n@attribute 'x real\n@data\n", "unterminated quote", 2, 12);
  expect_invalid("@relation r\n@attribute x real [0,1\n@data\n", "a range without its closing ']'", 2, 19);
  expect_invalid("@relation r\n@attribute x string [0,1]\n@data\n", "unexpected text after the type", 2, 21);
  expect_invalid("@relation r\n@attribute x real\n@data 1\n", "after @data", 3, 7);
  expect_fault("@relation r\n@attribute x real {2}\n@data\n", ErrorCode::unsupported, "weights", 2, 19);
  expect_fault("@relation r\n@attribute x relational\n@data\n", ErrorCode::unsupported, "relational", 2, 14);
  for (const char* pattern : {"yy-MM-dd", "yyyy'T", "yyyy-MM-dd XXX", "dd MMM yyyy", "yyyy-MM-dd'T'HH:mm:ssZ",
                              "hh:mm a", "yyyy-MM-dd HH:mm:ss.S"}) {
    const std::string quoted = "\"" + std::string(pattern) + "\"";
    expect_fault("@relation r\n@attribute x date " + quoted + "\n@data\n", ErrorCode::unsupported,
                 "'" + std::string(pattern) + "' is not supported", 2, 19);
  }
  expect_invalid("@relation r\n@attribute d date\n@data\n2001-01-01\n", "yyyy-MM-dd'T'HH:mm:ss", 4, 1);
  expect_invalid(std::string("\x7F"
                             "ELF\x02\x01\0\0",
                             8),
                 "expected @relation", 1, 1);
}

TEST(Arff, LongJunkIsCutInMessages) {
  const std::string junk(100000, 'z');
  try {
    read(std::string(kHeader) + junk + ",a\n");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 200U);
  }
}

TEST(Arff, MemoryLimitAndCancellation) {
  std::string text = kHeader;
  for (int i = 0; i < 10000; ++i) text += "{}\n";
  RunOptions run;
  const Table want = read(text);
  for (const std::int64_t limit : {10000 * 12, 10000 * 30}) {  // beyond half of it, values go to a file
    run.memory_limit = limit;
    const Table table = read(text, {}, run);
    EXPECT_EQ(table.bytes_in_memory() == table.bytes(), limit == 10000 * 30);
    ASSERT_EQ(table.n_rows, 10000);
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      EXPECT_EQ(table.columns[c].at(9999), want.columns[c].at(9999));
  }

  // Strings outgrow the limit while they are read.
  text = "@relation r\n@attribute s string\n@data\n";
  for (int i = 0; i < 10000; ++i) text += "s" + std::to_string(i) + "\n";
  run.memory_limit = 100000;
  expect_error(ErrorCode::out_of_memory, "the table needs at least 100020 bytes, but the memory limit leaves 100000",
               [&] { read(text, {}, run); });
  run.memory_limit = 10000000;
  EXPECT_EQ(read(text, {}, run).columns[0].values.size(), 10000U);
  run.cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled", [&] { read(text, {}, run); });
}

TEST(Arff, RealFiles) {
  const char* shared = std::getenv("STOPE_SHARED");
  const std::filesystem::path folder =
      (shared != nullptr ? std::filesystem::path(shared) : std::filesystem::path(STOPE_SOURCE_DIR) / ".." / "shared") /
      "data" / "mixed";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  struct Expected {
    const char* file;
    std::int64_t rows;
    std::int64_t attributes;  // without the decision
    std::int64_t numeric;
    std::int64_t missing;
    const char* decision;
  };
  for (const Expected& expected :
       {Expected{"heart.c.arff", 303, 13, 6, 7, "num"}, Expected{"heart.h.arff", 294, 13, 6, 782, "num"},
        Expected{"hepatitis.arff", 155, 19, 6, 167, "Class"}, Expected{"credit.a.arff", 690, 15, 6, 67, "class"},
        Expected{"anneal.orig.arff", 898, 38, 6, 22175, "class"},
        Expected{"mushroom.arff", 8124, 22, 0, 2480, "class"}}) {
    const Table table = read_arff(load_bytes((folder / expected.file).string(), {}), {}, {});
    table.validate();
    EXPECT_EQ(table.n_rows, expected.rows) << expected.file;
    EXPECT_EQ(static_cast<std::int64_t>(table.columns.size()), expected.attributes + 1) << expected.file;
    std::int64_t numeric = 0;
    std::int64_t missing = 0;
    for (const Column& column : table.columns) {
      if (!column.nominal()) ++numeric;
      for (std::int64_t row = 0; row < table.n_rows; ++row) missing += column.missing(row) ? 1 : 0;
    }
    EXPECT_EQ(numeric, expected.numeric) << expected.file;
    EXPECT_EQ(missing, expected.missing) << expected.file;
    EXPECT_EQ(table.find(expected.decision), expected.attributes) << expected.file << ": the decision comes last";
  }
}

}  // namespace
}  // namespace stope::io
