// What the CSV reader guesses when nobody says it: header, types, decimal marks; and when it warns.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "effort.hpp"
#include "expect_error.hpp"
#include "io/readers.hpp"
#include "stope/warning.hpp"

namespace stope::io {
namespace {

using Warnings = std::map<std::string, std::string>;  // by code

Table read(std::string_view text, const ReadOptions& options = {}, Warnings* warnings = nullptr) {
  RunOptions run;
  Warnings seen;
  run.warn = [&](std::string_view code, std::string_view sentence) {
    EXPECT_TRUE(seen.emplace(code, sentence).second) << code << " twice";
  };
  Table table = read_csv({text, nullptr, "t.csv", 0}, options, nullptr, run);
  if (warnings != nullptr) *warnings = seen;
  return table;
}

Warnings warnings_of(std::string_view text, const ReadOptions& options = {}) {
  Warnings warnings;
  read(text, options, &warnings);
  return warnings;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string message_of(std::string_view text, const ReadOptions& options = {}) {
  try {
    read(text, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string cell(const Table& table, std::size_t column, std::int64_t row) {
  const Column& c = table.columns[column];
  if (c.missing(row)) return "";
  return c.nominal() ? c.values[c.codes()[row]] : std::to_string(c.at(row));
}

const char* const kAdult =
    "39, State-gov, 77516, <=50K\n50, Private, 83311, <=50K\n38, Private, 215646, >50K\n53, State-gov, 234721, <=50K\n";

TEST(CsvGuess, AFirstRowThatFitsTheColumnsBelowIsData) {
  Warnings warnings;
  const Table table = read(kAdult, {}, &warnings);
  EXPECT_EQ(table.n_rows, 4);
  EXPECT_EQ(table.columns[1].name, "2");
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(read("5.1,Iris-setosa\n4.9,Iris-setosa\n6.1,Iris-virginica\n").n_rows, 3);
  EXPECT_EQ(read("2024-01-01,a\n2024-01-02,b\n").n_rows, 2);
  EXPECT_EQ(read("true,a\nfalse,b\n").n_rows, 2);
}

TEST(CsvGuess, AFirstRowThatDoesNotFitHoldsNames) {
  for (const char* text : {"a,b\n1,x\n2,y\n", "when,b\n2024-01-01,x\n2024-01-02,y\n", "flag,b\ntrue,x\nfalse,y\n",
                           "a;b\n1,5;x\n2,5;y\n", "id,2019,2020\n1,5,6\n2,7,8\n", "\"2019\",\"2020\"\n1.5,2\n3.5,4\n",
                           "\"\",\"2019\"\n\"r1\",1.5\n\"r2\",2\n", "a,b\nx,y\nz,w\n"}) {
    EXPECT_EQ(read(text).n_rows, 2) << text;
  }
}

TEST(CsvGuess, ACloseGuessOfTheHeaderIsAWarning) {
  Warnings warnings = warnings_of("id,2019,2020\n1,5,6\n2,7,8\n");
  EXPECT_TRUE(contains(warnings[std::string(warning::kHeaderGuessed)], "t.csv: the first record is taken as names"));
  warnings = warnings_of("country,2019\nDE,1\nFR,2\n");  // 2019 fits, and no country occurs twice
  EXPECT_TRUE(contains(warnings[std::string(warning::kHeaderGuessed)], "taken as data"));
  warnings = warnings_of("5.1,n.a.,x\n4.9,3.0,x\n4.7,3.2,y\n");
  EXPECT_TRUE(contains(warnings[std::string(warning::kHeaderGuessed)], "1 of its 3 fields would fit"));
  for (const char* text : {"a,b\n1,x\n2,y\n", "1,2\n3,4\n", "a,b\nx,y\nz,w\n", "\"1\",\"2\"\n3,4\n"}) {
    EXPECT_TRUE(warnings_of(text).empty()) << text;
  }
  ReadOptions no;
  no.header = Header::no;
  EXPECT_TRUE(warnings_of("country,2019\nDE,1\nFR,2\n", no).empty());
  ReadOptions named;
  named.names = {"a", "b"};
  EXPECT_EQ(warnings_of("x,y\n1,2\n3,4\n", named).size(), 1U);
}

TEST(CsvGuess, ATitleThatIsTakenAsNamesIsAWarning) {
  const char* text = "Sales,,\ncountry,year,sum\nDE,2024,5\nFR,2024,7\n";
  Warnings warnings = warnings_of(text);
  EXPECT_TRUE(contains(warnings[std::string(warning::kTitle)], "names 1 of 3 columns, so it may be a title"));
  ReadOptions yes;
  yes.header = Header::yes;
  EXPECT_EQ(warnings_of(text, yes).count(std::string(warning::kTitle)), 0U) << "somebody said what it is";
}

TEST(CsvGuess, NumbersThatOnlyCountUpAreNames) {
  Warnings warnings;
  EXPECT_EQ(read(",0,1,2,label\n0,5,6,9,a\n1,7,8,2,b\n", {}, &warnings).n_rows, 2);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_EQ(read("1,2,3\n4,5,6\n7,8,9\n").n_rows, 3);  // the second row counts up, too
}

TEST(CsvGuess, TablesOfTextHaveAHeaderUnlessItsFieldsOccurAgain) {
  EXPECT_EQ(read("p,x,s\ne,x,s\np,b,y\ne,x,w\n").n_rows, 4);
  EXPECT_EQ(read("kind,cap,ring\ne,x,s\np,b,y\n").n_rows, 2);
}

TEST(CsvGuess, ASingleRecordIsDataIfItHasANumber) {
  EXPECT_EQ(read("5.1,3.5,x\n").n_rows, 1);
  EXPECT_EQ(read("a,b\n").n_rows, 0);
  EXPECT_EQ(read("\"1\",\"2\"\n").n_rows, 0);
}

TEST(CsvGuess, ADuplicateNameSaysWhetherTheHeaderWasGuessed) {
  ReadOptions options;
  for (const bool guessed : {true, false}) {
    options.header = guessed ? Header::automatic : Header::yes;
    try {
      read("a,b,a\n1,2,3\n", options);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "t.csv:1:5: a second column is named 'a'");
      EXPECT_EQ(error.option(), guessed ? "header" : "names");
    }
  }
  options.names = {"a", "b", "c"};
  const Table table = read("a,b,a\n1,2,3\n", options);
  EXPECT_EQ(table.n_rows, 1);
  EXPECT_EQ(table.columns[2].name, "c");
}

TEST(CsvGuess, NumbersWhoseDigitsADoubleLosesStayAsTheyAreSpelled) {
  Warnings warnings;
  const Table table = read("id,zip,n\n9007199254740993,01234,1\n9223372036854775807,99999,2\n", {}, &warnings);
  EXPECT_EQ(cell(table, 0, 0), "9007199254740993");
  EXPECT_EQ(cell(table, 1, 0), "01234");
  EXPECT_FALSE(table.columns[2].nominal());
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[std::string(warning::kKeptAsSpelled)],
                       "column 'id' is nominal, so that its numbers stay as they are spelled: '9007199254740993' "
                       "(t.csv:2:1); so are 'zip'"));
  for (const char* text : {"a\n0\n-0\n0.5\n00.5\n", "a\n9007199254740992\n-9007199254740992\n",
                           "a\n1e300\n9007199254740993.0\n", "a\n10\n100\n"}) {
    EXPECT_FALSE(read(text).columns[0].nominal()) << text;
  }
  for (const char* text : {"a\n1\n007\n", "a\n1\n-01\n", "a\n1\n\"01\"\n", "a\n1\n 01 \n", "a\n1\n00\n",
                           "a\n1\n00000000000000000001\n", "a\n1\n9007199254740993\n", "a\n1\n+9007199254740993\n"}) {
    EXPECT_TRUE(read(text).columns[0].nominal()) << text;
  }
}

TEST(CsvGuess, DigitsThatFarDownDoNotSurviveMakeTheColumnNominal) {
  std::string text = "a,b\n";
  for (int i = 0; i < 3000; ++i) text += (i == 2999 ? "007" : std::to_string(i + 1)) + ",1\n";
  const Table table = read(text);
  EXPECT_EQ(cell(table, 0, 2999), "007");
  EXPECT_FALSE(table.columns[1].nominal());
}

// Found by fuzz/csv_fuzz.cpp: a number of too many digits hid the leading zeros of the batches behind it.
TEST(CsvGuess, LeadingZerosBehindARoundedNumberMakeTheColumnNominal) {
  std::string text = "a\n0.12345678901234567890123\n";
  for (int i = 0; i < 20000; ++i) text += (i == 19999 ? "007" : std::to_string(i + 1)) + "\n";
  const Table table = read(text);
  EXPECT_EQ(cell(table, 0, 20000), "007");
  EXPECT_EQ(cell(table, 0, 0), "0.12345678901234567890123");
}

TEST(CsvGuess, ADeclaredNumberThatLosesDigitsIsAWarning) {
  ReadOptions options;
  options.numeric = {"id", "zip"};
  Warnings warnings;
  const Table table = read("id,zip\n1,1\n9007199254740993,01234\n", options, &warnings);
  EXPECT_EQ(table.columns[0].at(1), 9007199254740992.0);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[std::string(warning::kDigitsLost)],
                       "column 'id' is numeric as declared, which changes '9007199254740993' (t.csv:3:1) to "
                       "9007199254740992.0; the same happens in 'zip'"));
}

TEST(CsvGuess, ANumberThatNoDoubleIsNearIsAWarning) {
  const auto told = [](const std::string& number) {
    Warnings warnings;
    const Table table = read("a,b\n1,1\n" + number + ",2\n", {}, &warnings);
    EXPECT_FALSE(table.columns[0].nominal()) << number;
    return warnings[std::string(warning::kDigitsLost)];
  };
  EXPECT_EQ(told("1e400"), "column 'a' is numeric, which changes '1e400' (t.csv:3:1) to Infinity");
  EXPECT_TRUE(contains(told("\"-1e400\""), "to -Infinity"));
  EXPECT_TRUE(contains(told("1e-400"), "to 0.0"));
  EXPECT_TRUE(contains(told("123456789.12345678901234"), "to 123456789.12345679"));
  for (const char* kept : {"inf", "-Infinity", "nan", "0e400", "0.0000000000000000000", "0.10000000000000001",
                           "1.7976931348623157e308", "2.2250738585072014e-308", "1234567890.1234567",
                           "0.00000000000000000000012", "12000000.0000000000000000000", "1e300"}) {
    EXPECT_EQ(told(kept), "") << kept;
  }
}

TEST(CsvGuess, IsoDatesAndTimesBecomeDates) {
  const Table table = read(
      "d,t,z,m\n2024-01-31,2024-01-31T12:00:00,2024-01-31 12:00:00.250Z,2024-01-31\n?,,1970-01-01T01:00+01:00,x\n");
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(table.columns[c].type, ValueType::date) << c;
  EXPECT_EQ(table.columns[0].at(0), 19753);
  EXPECT_EQ(table.columns[1].at(0), 19753.5);
  EXPECT_EQ(table.columns[2].at(1), 0);
  EXPECT_TRUE(table.columns[3].nominal());
  EXPECT_TRUE(read("d\n2024-01-31\n2023-02-29\n").columns[0].nominal());
  EXPECT_TRUE(read("d\n2024-01-31T00:00:00.1234567\n").columns[0].nominal());  // a double has no room for it
}

TEST(CsvGuess, DatesThatComeLateOrTurnIntoText) {
  std::string late = "a,b\n", text = "a,b\n";
  for (int i = 0; i < 3000; ++i) {
    late += std::to_string(i) + "," + (i > 2500 ? "2024-01-31" : "") + "\n";
    text += std::to_string(i) + "," + (i == 2999 ? "soon" : "2024-01-31") + "\n";
  }
  EXPECT_EQ(read(late).columns[1].type, ValueType::date);
  Warnings warnings;
  EXPECT_EQ(cell(read(text, {}, &warnings), 1, 2999), "soon");
  EXPECT_TRUE(contains(warnings[std::string(warning::kNearlyNumeric)], "2999 of its 3000 values are dates"));
}

// A small file is guessed at from its first 100 records, a larger one from 1,000: what a column is does not depend on
// it. The second column is what makes the file larger.
TEST(CsvGuess, AColumnIsWhatAllOfItsFieldsAreHoweverManyAreGuessedFrom) {
  const char* const first[] = {"", "1", "2.5", "2020-01-02", "word", "1e3", "12"};
  const char* const odd[] = {"",  "7",    "1,5",  "x",       "2020-05-06", "007", "12345678901234567890",
                             "?", "true", "2020", "20200506"};
  std::int64_t number = 0;
  for (const std::string separator : {",", ";"}) {
    for (const char* const usual : first) {
      for (const char* const other : odd) {
        for (const std::int64_t at : {99, 100, 1500}) {
          SCOPED_TRACE(std::string(usual) + " but " + other + " in row " + std::to_string(at));
          if ((separator == "," && std::string_view(other) == "1,5") || !chosen(number++)) continue;
          std::string small = "a" + separator + "b\n", large = small;
          for (std::int64_t row = 0; row < 2000; ++row) {
            const std::string field = (row == at ? other : usual) + separator;
            small += field + "y\n";
            large += field + "y" + std::string(600, 'y') + "\n";
          }
          const Table expected = read(large), found = read(small);
          ASSERT_EQ(found.columns[0].type, expected.columns[0].type);
          ASSERT_EQ(found.columns[0].values, expected.columns[0].values);
          for (const std::int64_t row : {std::int64_t{1}, at}) {
            ASSERT_EQ(cell(found, 0, row), cell(expected, 0, row));
          }
        }
      }
    }
  }
}

TEST(CsvGuess, TimesWithAnOffsetAreConvertedWithAWarning) {
  EXPECT_TRUE(contains(warnings_of("t\n2024-01-31T12:00:00+01:00\n")[std::string(warning::kOffsetsDropped)],
                       "'2024-01-31T12:00:00+01:00' (t.csv:2:1)"));
  EXPECT_TRUE(warnings_of("t\n2024-01-31T12:00:00Z\n").empty());
}

TEST(CsvGuess, TrueAndFalseAreBinominal) {
  EXPECT_EQ(read("a,b\ntrue,1\nfalse,2\n,3\n").columns[0].type, ValueType::binominal);
  EXPECT_EQ(read("a,b\nTRUE,1\nFALSE,2\n").columns[0].type, ValueType::binominal);
  EXPECT_EQ(read("a,b\ntrue,1\nmaybe,2\n").columns[0].type, ValueType::polynominal);
}

TEST(CsvGuess, DecimalCommasAreFoundBetweenSemicolons) {
  Warnings warnings;
  const Table table = read("a;b;c;d\n1,5;1.5;1;1,5\n2,25;2.25;2;2.5\n", {}, &warnings);
  EXPECT_EQ(table.columns[0].at(1), 2.25);
  EXPECT_EQ(table.columns[1].at(1), 2.25);
  EXPECT_FALSE(table.columns[2].nominal());
  EXPECT_TRUE(table.columns[3].nominal());  // both marks
  EXPECT_TRUE(contains(warnings[std::string(warning::kDecimalCommas)], "decimal mark of column 'a'"));
  EXPECT_EQ(read("1,5;2,5\n1,7;2,9\n").columns.size(), 2U);
  EXPECT_TRUE(read("a\tb\n1,5\tx\n").columns[0].nominal());
  ReadOptions options;
  options.numeric = {"a"};
  EXPECT_EQ(read("a;b\n1,5;x\n", options).columns[0].at(0), 1.5);
  std::string late = "a;b\n";
  for (int i = 0; i < 3000; ++i) late += (i == 2999 ? "0,5;x\n" : "1;x\n");
  EXPECT_EQ(read(late).columns[0].at(2999), 0.5);
  EXPECT_EQ(read(late, options).columns[0].at(2999), 0.5);
  EXPECT_TRUE(contains(message_of(late + "1.5;x\n", options), "t.csv:3002:1: column 'a': '1.5' is not a number"));
}

TEST(CsvGuess, AColumnThatIsNumericButForAFewCellsIsAWarning) {
  std::string text = "income,b\n";
  for (int i = 0; i < 100; ++i) text += (i == 7 ? "\"1,500\"" : i == 40 ? "n.a." : std::to_string(i)) + ",x\n";
  Warnings warnings = warnings_of(text);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[std::string(warning::kNearlyNumeric)],
                       "column 'income' is nominal, but 98 of its 100 values are numbers; "
                       "line 9 of t.csv has '1,500', line 42 has 'n.a.'"))
      << warnings[std::string(warning::kNearlyNumeric)];
  EXPECT_EQ(warnings_of("a,b\n1,x\nN/A,x\nN/A,y\n2,y\n").size(), 1U);  // a spelling of missing, however frequent
  EXPECT_TRUE(warnings_of("a,b\n1,x\nS,x\nM,y\n2,y\nL,y\n").empty());
  for (const bool ignored : {true, false}) {
    ReadOptions options;
    (ignored ? options.ignore : options.nominal) = {"income"};
    EXPECT_TRUE(warnings_of(text, options).empty());
  }
}

TEST(CsvGuess, CommentsAndLinesBeforeTheTableAreLeftOut) {
  ReadOptions options;
  options.comment = '#';
  const Table table = read("# made by x\na,b\n#1,2\n3,4\n\"#5\",6\n#", options);
  EXPECT_EQ(table.n_rows, 2);
  EXPECT_EQ(table.columns[0].name, "a");
  EXPECT_EQ(cell(table, 0, 1), "#5");
  EXPECT_EQ(read("a\n#x\n1\n\n", options).n_rows, 2);  // an empty line of one column is a missing value
  EXPECT_TRUE(contains(message_of("#\na,b\n#\n1\n", options), "t.csv:4:1: expected 2 fields, found 1"));
  ReadOptions skip;
  skip.skip_lines = 2;
  EXPECT_EQ(read("A title\r\n\r\na,b\r\n1,2\r\n", skip).columns[1].name, "b");
  EXPECT_TRUE(contains(message_of("t\n\na,b\n1\n", skip), "t.csv:4:1: expected 2 fields"));
}

TEST(CsvGuess, ExcelsFirstLineNamesTheSeparator) {
  const Table table = read("sep=;\r\na;b\r\n1;2,3,4\r\n");
  EXPECT_EQ(table.columns.size(), 2U);
  EXPECT_EQ(table.columns[1].name, "b");
  EXPECT_TRUE(contains(message_of("sep=;\na;b\n1\n"), "t.csv:3:1: expected 2 fields"));
}

TEST(CsvGuess, OneMoreSeparatorAtTheEndOfLinesIsNamed) {
  EXPECT_TRUE(
      contains(message_of("a,b\n1,2,\n"), "t.csv:2:5: expected 2 fields, found 3: the line ends with a separator"));
  EXPECT_EQ(read("a,b,\n1,2,\n").columns[2].name, "3");
}

TEST(CsvGuess, Windows1252HasItsOwnCharacters) {
  ReadOptions options;
  options.encoding = Encoding::windows1252;
  EXPECT_EQ(cell(read("a,b\n\x80 5,\x93q\x94\n", options), 0, 0), "\u20AC 5");
  EXPECT_EQ(cell(read("a,b\nna\xEFve,x\n", options), 0, 0), "na\u00EFve");
  EXPECT_TRUE(contains(message_of("a,b\n1,\x81\n", options), "t.csv:2:3: byte 0x81 is no character of windows-1252"));
  EXPECT_EQ(encoding("latin1"), Encoding::latin1);
  EXPECT_EQ(encoding("ISO_8859-1"), Encoding::latin1);
  EXPECT_EQ(encoding("CP1252"), Encoding::windows1252);
  EXPECT_EQ(encoding("UTF-16LE"), Encoding::utf16);
  expect_error(ErrorCode::invalid_argument, "unknown encoding 'ebcdic'", [&] { encoding("ebcdic"); });
}

}  // namespace
}  // namespace stope::io
