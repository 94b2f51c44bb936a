// Tables that are read by tiles are the tables that are read record by record: values, types, warnings and errors.
#include "io/csv/wide.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "effort.hpp"
#include "io/csv/reader.hpp"

namespace stope::io {
namespace {

constexpr std::int64_t kByRecords = -1;

struct Outcome {
  Table table;
  std::vector<std::string> told;  // warnings, or the error
};

Outcome read(const std::string& text, std::int64_t tile_width, int threads, const ReadOptions& options = {},
             const Schema* schema = nullptr) {
  Outcome outcome;
  RunOptions run;
  run.threads = threads;
  run.warn = [&](std::string_view code, std::string_view what) {
    outcome.told.push_back(std::string(code) + ": " + std::string(what));
  };
  try {
    outcome.table = csv::read({text, nullptr, "t.csv", 0}, options, schema, run, {.tile_width = tile_width});
  } catch (const Error& error) {
    outcome.told = {std::string(to_string(error.code())) + ": " + error.what() + " " + error.feature() + " " +
                    std::to_string(error.line()) + ":" + std::to_string(error.column())};
  }
  return outcome;
}

template <class T>
bool same_bytes(const Buffer<T>& a, const Buffer<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
}

void expect_same(const Outcome& found, const Outcome& expected, const std::string& what) {
  EXPECT_EQ(found.told, expected.told) << what;
  ASSERT_EQ(found.table.n_rows, expected.table.n_rows) << what;
  ASSERT_EQ(found.table.columns.size(), expected.table.columns.size()) << what;
  for (std::size_t c = 0; c < found.table.columns.size(); ++c) {
    const Column& a = found.table.columns[c];
    const Column& b = expected.table.columns[c];
    ASSERT_EQ(a.name, b.name) << what;
    ASSERT_EQ(to_string(a.type), to_string(b.type)) << what << ": " << a.name;
    ASSERT_EQ(a.values, b.values) << what << ": " << a.name;
    ASSERT_EQ(a.data.index(), b.data.index()) << what << ": " << a.name;
    std::visit(
        [&](const auto& data) {
          ASSERT_TRUE(same_bytes(data, std::get<std::decay_t<decltype(data)>>(b.data))) << what << ": " << a.name;
        },
        a.data);
  }
  if (!found.table.columns.empty()) found.table.validate();
}

// Reads by records and by tiles of several widths, which end everywhere.
void expect_all_same(const std::string& text, const ReadOptions& options = {}, const Schema* schema = nullptr) {
  const Outcome expected = read(text, kByRecords, 1, options, schema);
  for (const int threads : {1, 2, 7}) {
    for (const std::int64_t width : {1, 2, 3, 64, 1000}) {
      expect_same(
          read(text, width, threads, options, schema), expected,
          "width " + std::to_string(width) + ", threads " + std::to_string(threads) + "\n" + text.substr(0, 300));
      if (testing::Test::HasFailure()) return;
    }
  }
}

std::string header(std::int64_t n_columns, const std::string& quote = "", const std::string& end = "\n") {
  std::string text;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    if (c > 0) text += ',';
    text.append(quote).append("c").append(std::to_string(c + 1)).append(quote);
  }
  return text + end;
}

// A cell of a column whose kind is the column's number: each is read another way.
std::string cell(Random& random, std::int64_t column, std::int64_t row) {
  const auto pick = [&](std::initializer_list<const char*> words) {
    return std::string(*(words.begin() + random.below(words.size())));
  };
  if (random.below(9) == 0) return pick({"", "?", "NA", "\"\""});
  switch (column % 11) {
    case 0: return std::to_string(static_cast<int>(random.below(2000)) - 1000);
    case 1: return std::to_string(static_cast<int>(random.below(100))) + ".25";
    case 2: return pick({"red", "green", "\"blue, dark\"", "\"a \"\"b\"\"\"", " amber "});
    case 3: return pick({"true", "FALSE", "\"True\""});
    case 4: return pick({"2024-02-29", "1970-01-01T10:00:00Z", "2001-07-08 01:02"});
    case 5: return pick({"1", "2", row > 4 ? "x" : "3"});  // text, but not at first
    case 6: return pick({"0042", "7", "12"});              // numbers that stay as they are spelled
    case 7: return pick({"1e300", "-0", "inf", "0.12345678901234567890123"});
    case 8: return pick({"1,200", "3,400"}).insert(0, 1, '"') + "\"";  // marks between thousands
    case 9: return pick({"seventeen letters", "exactly-sixteen!", "naïve", "5\" tall"});
    default: return "v" + std::to_string(random.below(40));
  }
}

TEST(WideCsv, EqualsTheTableReadByRecords) {
  Random random(26);
  for (int round = 0; round < repeated(24, 8); ++round) {
    const auto n_columns = static_cast<std::int64_t>(2 + random.below(round % 3 == 0 ? 300 : 30));
    const auto n_rows = static_cast<std::int64_t>(1 + random.below(9));
    const std::string end = round % 2 == 0 ? "\n" : "\r\n";
    std::string text = header(n_columns, round % 4 == 0 ? "\"" : "", end);
    for (std::int64_t r = 0; r < n_rows; ++r) {
      if (random.below(12) == 0) text += random.below(2) == 0 ? end : "  " + end;
      for (std::int64_t c = 0; c < n_columns; ++c) text += (c > 0 ? "," : "") + cell(random, c, r);
      if (r + 1 < n_rows || random.below(2) == 0) text += end;
    }
    ReadOptions options;
    if (round % 5 == 1) options.nominal_order = NominalOrder::appearance;
    if (round % 5 == 2) options.missing = {"-999", "NA"};
    if (round % 5 == 3) options.ignore = {"c1"};
    options.header = round % 3 == 0 ? Header::automatic : Header::yes;
    expect_all_same(text, options);
    if (HasFailure()) return;
  }
}

// Rows of one value everywhere, but for one cell.
std::string table_with(const std::vector<std::pair<std::pair<int, int>, std::string>>& odd, int n_rows, int n_columns,
                       const std::string& usual = "1") {
  std::string text = header(n_columns);
  for (int r = 0; r < n_rows; ++r) {
    for (int c = 0; c < n_columns; ++c) {
      std::string cell = usual;
      for (const auto& [place, word] : odd) cell = place == std::pair(r, c) ? word : cell;
      text += (c > 0 ? "," : "") + cell;
    }
    text += "\n";
  }
  return text;
}

TEST(WideCsv, ReportsTheFirstBadValueOfTheFile) {
  ReadOptions options;
  options.numeric = {"*"};
  expect_all_same(table_with({{{3, 2}, "late"}, {{1, 90}, "first"}, {{1, 95}, "second"}}, 5, 100), options);
  expect_all_same(table_with({{{0, 99}, "last column"}}, 5, 100), options);
  options.numeric = {};
  options.date = {"c7", "c90"};
  expect_all_same(table_with({{{2, 6}, "1"}, {{0, 89}, "no date"}}, 3, 100, "2024-01-01"), options);
  const Outcome found = read(table_with({{{2, 6}, "x"}, {{1, 89}, "y"}}, 3, 100, "2024-01-01"), 8, 2, options);
  ASSERT_EQ(found.told.size(), 1U);
  EXPECT_NE(found.told[0].find("'y' is not an ISO date"), std::string::npos) << found.told[0];
}

// A declared column of ';' files may have decimal commas: its second reading fails later than another column's first.
TEST(WideCsv, ReportsTheColumnThatFailsWithoutAnotherReading) {
  ReadOptions options;
  options.separator = ';';
  options.numeric = {"a", "b"};
  options.header = Header::yes;
  expect_all_same("a;b;c\n1;2;x\n1,5;3;y\nbad;4;z\n2;worse;z\n", options);
  expect_all_same("a;b;c\n1;2;x\n1,5;3;y\n2,5;4,5;z\n", options);
}

TEST(WideCsv, ReportsMistakesOfTheFormAsRecordsDo) {
  const std::string good = table_with({}, 4, 70);
  for (const char* row : {"1,2\n", "\"open\n", "\"a\"b,1\n", "1,2,\xff\n"}) {
    std::string text = good;
    expect_all_same(text.append(row).append(good));
  }
  std::string many = good;
  many.insert(many.size() - 1, ",surplus");
  expect_all_same(many);
  expect_all_same(std::string("a,b,c\n1,\0,2\n", 12));
  ReadOptions ragged;
  ragged.allow_ragged = true;
  expect_all_same(many + "1,2\n", ragged);
  ReadOptions comments;
  comments.comment = '#';
  expect_all_same("a,b,c\n#x\n1,2,#3\n# y,z,\"\n4,5,6\n", comments);
}

TEST(WideCsv, ReadsWhatTheKernelsLeaveToTheGrammar) {
  expect_all_same(table_with({{{1, 3}, "a\"b"}, {{1, 69}, " \"quoted\" "}, {{2, 0}, " x"}}, 4, 70));
  expect_all_same(table_with({{{1, 69}, "a\"b"}}, 3, 70) + "\r\n \n" + "\r");
  expect_all_same("a,b\n1,2\r3,4\r5,\"x\ny\"\r");
  expect_all_same("a,b,c\n,,\n , ,\n\"\",\"\",\"\"\n");
}

TEST(WideCsv, KeepsTheSchemasValues) {
  Schema schema;
  schema.columns = {{"a", ValueType::nominal, Role::regular, {"z", "y", "x"}},
                    {"b", ValueType::real, Role::regular, {}},
                    {"c", ValueType::nominal, Role::regular, {}}};
  expect_all_same("a,b,c\nx,1,p\nz,2,q\n", {}, &schema);
  expect_all_same("a,b,c\nx,1,p\nw,2,q\n", {}, &schema);
}

TEST(WideCsv, SuitsTablesOfMoreColumnsThanRecords) {
  EXPECT_TRUE(csv::suits_tiles(30, 300000));
  EXPECT_TRUE(csv::suits_tiles(1000, 10000));
  EXPECT_FALSE(csv::suits_tiles(0, 10000));
  EXPECT_FALSE(csv::suits_tiles(1000, 999));
  EXPECT_FALSE(csv::suits_tiles(3, 20));
}

TEST(WideCsv, StopsAtTheMemoryLimit) {
  std::string text = header(2000);
  for (int c = 0; c < 2000; ++c) text += (c > 0 ? "," : "") + std::string(1000, 'a') + std::to_string(c);
  RunOptions run;
  run.threads = 2;
  run.memory_limit = 2000 * kColumnBytes + 500000;
  try {
    read_csv({text, nullptr, "t.csv", 0}, {}, nullptr, run);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("the values of its nominal columns need more than"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace stope::io
