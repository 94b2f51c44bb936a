// TableBuilder: the table does not depend on how its rows came.
#include "stope/table_builder.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "table/array_cases.hpp"

namespace stope {
namespace {

using namespace array_cases;

Schema numbers(std::int64_t n_columns) {
  Schema schema;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    schema.columns.push_back({"n" + std::to_string(c), ValueType::real, Role::regular, {}});
  }
  return schema;
}

// Two numeric columns around a nominal one of three values.
Schema mixed() {
  Schema schema = numbers(3);
  schema.columns[1] = {"color", ValueType::polynominal, Role::label, {"red", "green", "blue"}};
  schema.columns[2].role = Role::weight;
  return schema;
}

// Blocks of rows of random sizes, types and layouts, whose memory is overwritten after each call.
TEST(TableBuilder, GivesTheSameTableHoweverTheRowsCome) {
  Random random(5);
  for (const std::int64_t columns : {1, 3, 200}) {
    for (const std::int64_t expected : {0, 10, 20000}) {
      for (const std::int64_t most : {1, 100, 9000}) {
        SCOPED_TRACE(std::to_string(columns) + " columns, " + std::to_string(expected) + " rows expected, blocks of " +
                     std::to_string(most));
        TableBuilder builder(numbers(columns), expected);
        std::vector<ElementType> types;  // of every row
        const std::int64_t want = most == 1 ? 300 : 10000;
        while (builder.n_rows() < want) {
          const ElementType type = kTypes[random.below(10)];
          const auto rows = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most) + 1));
          const bool by_rows = random.below(2) == 0, backwards = random.below(4) == 0;
          const std::int64_t sign = backwards ? -1 : 1;
          const std::int64_t first = builder.n_rows();
          Filled block = filled(type, rows, columns, sign * (by_rows ? columns + 1 : 1), by_rows ? 1 : rows + 2, first);
          builder.append(block.array);
          std::memset(block.memory.data(), 0, static_cast<std::size_t>(block.memory.size()));
          types.insert(types.end(), static_cast<std::size_t>(rows), type);
          ASSERT_EQ(builder.n_rows(), first + rows);
        }
        const Table table = builder.finish();
        table.validate();
        ASSERT_EQ(table.n_rows, static_cast<std::int64_t>(types.size()));
        std::int64_t wrong = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          for (std::int64_t r = 0; r < table.n_rows; ++r) {
            const double value = table.columns[static_cast<std::size_t>(c)].at(r);
            wrong += same(value, value_at(types[static_cast<std::size_t>(r)], r, c)) ? 0 : 1;
          }
        }
        EXPECT_EQ(wrong, 0);
      }
    }
  }
}

TEST(TableBuilder, TakesCodesForNominalColumns) {
  TableBuilder builder(mixed());
  const double nan = std::nan("");
  const double rows[] = {1.5, 2, 1, nan, nan, 2, -3, -0.0, 3, 0, -1, 4};
  builder.append({rows, ElementType::float64, 4, 3});
  const std::int8_t more[] = {7, -1, 1, 8, 1, 2};
  builder.append({more, ElementType::int8, 2, 3});
  const Table table = builder.finish();
  const Buffer<std::int32_t>& codes = table.columns[1].codes();
  EXPECT_EQ(std::vector<std::int32_t>(codes.begin(), codes.end()), (std::vector<std::int32_t>{2, -1, 0, -1, -1, 1}));
  EXPECT_EQ(table.columns[1].values, Values({"red", "green", "blue"}));
  EXPECT_EQ(table.columns[1].role, Role::label);
  EXPECT_EQ(table.columns[2].role, Role::weight);
  EXPECT_TRUE(table.columns[0].missing(1));
}

// A call that throws names column and row over all blocks and adds nothing.
TEST(TableBuilder, RefusesWhatIsNoCodeAndGoesOn) {
  TableBuilder builder(mixed());
  const std::vector<double> good(3 * 5000, 1.0);
  builder.append({good.data(), ElementType::float64, 5000, 3});
  struct Bad {
    double value;
    std::string text;
  };
  for (const Bad& bad : {Bad{3, "3"},
                         {-2, "-2"},
                         {0.5, "0.5"},
                         {-0.5, "-0.5"},
                         {1e300, "1e+300"},
                         {-std::numeric_limits<double>::infinity(), "-inf"},
                         {0x1p32, "4294967296"}}) {
    std::vector<double> rows(3 * 9000, 2.0);
    rows[3 * 8500 + 1] = bad.value;
    try {
      builder.append({rows.data(), ElementType::float64, 9000, 3});
      ADD_FAILURE() << bad.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.message(), "column 'color', row 13500: " + bad.text + " is not a code of its 3 values");
      EXPECT_EQ(error.feature(), "color");
      EXPECT_EQ(error.row(), 13500);
    }
    EXPECT_EQ(builder.n_rows(), 5000);
  }
  std::int64_t key[] = {1, 1, (std::int64_t{1} << 53) + 1};
  try {
    builder.append({key, ElementType::int64, 1, 3});
    ADD_FAILURE() << "2^53 + 1";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_EQ(error.row(), 5000);
  }
  builder.append({good.data(), ElementType::float64, 5000, 3});
  const Table table = builder.finish();
  EXPECT_EQ(table.n_rows, 10000);
  for (std::int64_t r = 0; r < 10000; ++r) ASSERT_EQ(table.columns[1].at(r) + table.columns[2].at(r), 2.0) << r;
}

TEST(TableBuilder, IsEmptyAfterFinishAndTakesRowsAgain) {
  TableBuilder builder(mixed(), 4);
  const float rows[] = {1, 0, 2, 3, 1, 4};
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(builder.finish().n_rows, 0);
    builder.append({rows, ElementType::float32, 2, 3});
    const Table table = builder.finish();
    EXPECT_EQ(builder.n_rows(), 0);
    builder.append({rows, ElementType::float32, 1, 3});
    EXPECT_EQ(table.n_rows, 2);
    EXPECT_EQ(table.columns[2].at(1), 4.0);
    EXPECT_EQ(builder.finish().n_rows, 1);
  }
  TableBuilder other = std::move(builder);
  other.append({rows, ElementType::float32, 2, 3});
  EXPECT_EQ(other.finish().n_rows, 2);
}

// Rows that were expected lie where they were written first: the columns are neighbours in one block.
TEST(TableBuilder, DoesNotCopyRowsThatWereExpected) {
  TableBuilder builder(numbers(2), 1600);
  const Filled block = filled(ElementType::float64, 100, 2, 2, 1);
  for (int i = 0; i < 16; ++i) builder.append(block.array);
  const Table table = builder.finish();
  const auto& first = std::get<Buffer<double>>(table.columns[0].data);
  const auto& second = std::get<Buffer<double>>(table.columns[1].data);
  EXPECT_EQ(second.data() - first.data(), 1600);
}

TEST(TableBuilder, KeepsToTheMemoryLimit) {
  const Filled block = filled(ElementType::float64, 1000, 10, 10, 1);  // 80,000 bytes
  RunOptions run;
  run.memory_limit = 1'000'000;
  for (const std::int64_t blocks : {1, 20}) {
    TableBuilder builder(numbers(10), 0, run);
    for (std::int64_t i = 0; i < blocks; ++i) builder.append(block.array);
    const Table table = builder.finish();
    EXPECT_EQ(std::get<Buffer<double>>(table.columns[9].data).storage(), blocks == 1 ? Storage::memory : Storage::file);
    EXPECT_EQ(table.n_rows, 1000 * blocks);
    for (std::int64_t r = 0; r < table.n_rows; ++r) {
      ASSERT_TRUE(same(table.columns[9].at(r), value_at(ElementType::float64, r % 1000, 9)));
    }
  }
}

TEST(TableBuilder, RefusesWhatCannotBe) {
  Schema twice = numbers(2);
  twice.columns[1].name = "n0";
  expect_error(ErrorCode::invalid_argument, "two columns are named 'n0'", [&] { TableBuilder{twice}; });
  try {
    TableBuilder(numbers(2), -1);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "-1 rows cannot be expected");
    EXPECT_EQ(error.option(), "n_rows_expected");
  }
  RunOptions little;
  little.memory_limit = 100;
  expect_error(ErrorCode::out_of_memory, "the table needs at least 2400 bytes",
               [&] { TableBuilder(numbers(2), 0, little); });
  TableBuilder builder(numbers(2));
  const double x[4] = {};
  expect_error(ErrorCode::invalid_argument, "the rows have 1 columns, not 2",
               [&] { builder.append({x, ElementType::float64, 2, 1}); });
  expect_error(ErrorCode::invalid_argument, "the rows has no data",
               [&] { builder.append({nullptr, ElementType::float64, 2, 2}); });
  EXPECT_EQ(builder.n_rows(), 0);
}

}  // namespace
}  // namespace stope
