// Rows that are read in blocks, by all threads, are the rows that the scanner reads. A quoted word in a row leaves its
// block to the scanner.
#include "io/arff_blocks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "effort.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

struct Outcome {
  Table table;
  std::vector<std::string> told;  // warnings, or the error
};

Outcome read(const std::string& text, int threads) {
  Outcome outcome;
  RunOptions run;
  run.threads = threads;
  run.warn = [&](std::string_view, std::string_view what) { outcome.told.emplace_back(what); };
  try {
    outcome.table = read_arff({text, nullptr, "t.arff"}, {}, run);
  } catch (const Error& error) {
    outcome.told = {std::string(error.what()) + " " + std::to_string(error.line()) + ":" +
                    std::to_string(error.column())};
  }
  return outcome;
}

void expect_same(const Outcome& found, const Outcome& expected, const std::string& text) {
  ASSERT_EQ(found.told, expected.told) << text;
  ASSERT_EQ(found.table.columns.size(), expected.table.columns.size()) << text;
  ASSERT_EQ(found.table.n_rows, expected.table.n_rows) << text;
  for (std::size_t c = 1; c < found.table.columns.size(); ++c) {  // behind the key
    const Column& a = found.table.columns[c];
    const Column& b = expected.table.columns[c];
    ASSERT_EQ(a.name, b.name);
    ASSERT_EQ(a.values, b.values);
    std::visit(
        [&](const auto& data) {
          const auto& other = std::get<std::decay_t<decltype(data)>>(b.data);
          const std::size_t bytes = static_cast<std::size_t>(data.size()) * sizeof(*data.data());
          ASSERT_TRUE(bytes == 0 || std::memcmp(data.data(), other.data(), bytes) == 0) << a.name << "\n" << text;
        },
        a.data);
  }
}

// Reads the rows behind a first attribute whose values are quoted or not, and as wide either way.
void expect_as_scanned(const std::string& attributes, const std::vector<std::string>& rows) {
  const std::string header = "@relation r\n@attribute key {kkk,k}\n" + attributes + "@data\n";
  std::string plain = header, scanned = header;
  for (const std::string& row : rows) {
    plain += (row.starts_with('{') ? "" : "kkk,") + row + "\n";
    scanned += (row.starts_with('{') ? "" : "'k',") + row + "\n";
  }
  const Outcome expected = read(scanned, 1);
  for (const int threads : {1, 2, 7}) {
    expect_same(read(plain, threads), expected, plain.substr(0, 2000));
    if (testing::Test::HasFailure()) return;
  }
  if (rows.empty()) return;
  plain.pop_back();  // no line end behind the last row
  expect_same(read(plain, 2), expected, plain.substr(0, 2000));
}

std::string many_values() {
  std::string list;
  for (int i = 0; i < 30; ++i) list += (i > 0 ? "," : "") + ("v" + std::to_string(i));
  return list;
}

std::string attribute(std::int64_t i) {
  const char* const types[] = {"numeric", "integer", "{red, green, blue, 'red blue'}", "date yyyy-MM-dd"};
  const std::string type = i % 5 == 4 ? "{" + many_values() + "}" : std::string(types[i % 5]);
  return "@attribute a" + std::to_string(i) + " " + type + "\n";
}

std::string word(Random& random, std::int64_t i) {
  if (random.below(12) == 0) return "?";
  switch (i % 5) {
    case 0: return std::to_string(static_cast<int>(random.below(2000)) - 1000) + ".5";
    case 1: return random.below(30) == 0 ? "1e5" : std::to_string(random.below(1000));
    case 2: return random.below(2) == 0 ? "red" : "blue";
    case 3: return "2024-0" + std::to_string(1 + random.below(9)) + "-11";
    default: return "v" + std::to_string(random.below(30));
  }
}

// Rarer words: some are mistakes, some change their digits, some only the scanner reads.
std::string odd_word(Random& random) {
  const char* const words[] = {"007",
                               "12345678901234567890",
                               "0.1234567890123456789",
                               "'red'",
                               "\"v1\"",
                               "x",
                               "",
                               "red blue",
                               "1,2",
                               "NaN",
                               "-inf",
                               "+5",
                               "<null>",
                               "{",
                               "'open"};
  return words[random.below(std::size(words))];
}

TEST(ArffBlocks, EqualTheRowsThatTheScannerReads) {
  Random random(5);
  for (int round = 0; round < repeated(60, 15); ++round) {
    const auto n_columns = static_cast<std::int64_t>(1 + random.below(round % 6 == 0 ? 3000 : 12));
    const auto n_rows = static_cast<std::int64_t>(random.below(round % 6 == 0 ? 40 : 6000));
    const bool odd = round % 3 != 0;
    std::string attributes;
    for (std::int64_t i = 0; i < n_columns; ++i) attributes += attribute(i);
    const char* const between = round % 4 == 1 ? ", " : ",";
    std::vector<std::string> rows;
    for (std::int64_t r = 0; r < n_rows; ++r) {
      std::string row;
      for (std::int64_t i = 0; i < n_columns; ++i) {
        const bool rare = odd && random.below(static_cast<std::uint64_t>(n_rows * n_columns / 2 + 1)) == 0;
        row += (i > 0 ? between : "") + (rare ? odd_word(random) : word(random, i));
      }
      if (odd && random.below(2000) == 0) row += ", {0.5}";
      if (odd && random.below(2000) == 0) row = "{1 1.5}";
      rows.push_back(row);
    }
    expect_as_scanned(attributes, rows);
    if (HasFailure()) return;
  }
}

TEST(ArffBlocks, ReportsTheFirstMistakeOfTheFile) {
  std::vector<std::string> rows(20000, "1,red");
  rows[19000] = "x,red";
  rows[5000] = "1,violet";
  rows[15] = "1,'red";
  const std::string attributes = "@attribute a numeric\n@attribute b {red,green,'red green'}\n";
  expect_as_scanned(attributes, rows);
  rows[15] = "1,'red'";
  expect_as_scanned(attributes, rows);
  rows[19999] = "1";
  rows[5000] = rows[19000] = "2,green";
  expect_as_scanned(attributes, rows);
  rows[19999] = "1,red green";  // two words, although their text is a value
  expect_as_scanned(attributes, rows);
  rows[19999] = "1,red,3";
  expect_as_scanned(attributes, rows);
  rows[19999] = "1,red";
  expect_as_scanned(attributes, rows);
}

TEST(ArffBlocks, TellsOfTheFirstLostDigits) {
  std::vector<std::string> rows(20000, "1,2");
  rows[700] = "1,00012";
  rows[9000] = "12345678901234567890,2";
  const std::string attributes = "@attribute a numeric\n@attribute b numeric\n";
  expect_as_scanned(attributes, rows);
  EXPECT_NE(read("@relation r\n" + attributes + "@data\n1,2\n1, 007\n", 1).told.at(0).find("'007' (t.arff:6:4) to 7"),
            std::string::npos);
  rows[10] = "'0004',1";
  expect_as_scanned(attributes, rows);
}

TEST(ArffBlocks, KeepsTheOrderOfStrings) {
  std::vector<std::string> rows;
  rows.reserve(30000);
  for (int i = 0; i < 30000; ++i) rows.push_back("s" + std::to_string(i * 7919 % 10007) + ",1");
  expect_as_scanned("@attribute a string\n@attribute b numeric\n", rows);
}

TEST(ArffBlocks, FindsTheFirstRepeatedNameBeforeOtherMistakes) {
  const std::string header = "@relation r\n@attribute a real\n@attribute 'a\\tb' real\n";
  const std::string unknown = "@attribute c unknown\n";
  const std::string repeated = "  @attribute \"a\\tb\" {'x\\ty'}\n";
  for (const char* rest :
       {"@data\n", "@attribute a real\n@data\n", "@attribute c unknown\n@data\n", "nonsense\n", ""}) {
    std::string text = header;
    const Outcome found = read(text.append(repeated).append(rest), 1);
    EXPECT_NE(found.told.at(0).find("a second attribute named 'a?b'"), std::string::npos) << found.told.at(0);
    EXPECT_NE(found.told.at(0).find("4:3"), std::string::npos) << found.told.at(0);
  }
  std::string text = header;
  const Outcome found = read(text.append(unknown).append(repeated), 1);
  EXPECT_NE(found.told.at(0).find("unknown type"), std::string::npos) << found.told.at(0);
}

}  // namespace
}  // namespace stope::io
