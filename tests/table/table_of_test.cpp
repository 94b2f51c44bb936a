// Tables made of arrays: every element type, any strides, shared or copied.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "effort.hpp"
#include "environment.hpp"
#include "stope/error.hpp"
#include "stope/table_builder.hpp"
#include "table/array_cases.hpp"

namespace stope {
namespace {

using namespace array_cases;

void expect_error(ErrorCode code, const std::string& text, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

std::int64_t n_wrong(const Table& table, ElementType type) {
  std::int64_t wrong = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    for (std::int64_t r = 0; r < table.n_rows; ++r) {
      wrong += same(table.columns[c].at(r), value_at(type, r, static_cast<std::int64_t>(c))) ? 0 : 1;
    }
  }
  return wrong;
}

// Shapes around the 64 rows of a tile, and one that several threads share. By rows, by columns, with gaps, backwards,
// with an owner and without.
TEST(TableOf, HasTheValuesOfAnArrayOfAnyTypeAndStrides) {
  struct Shape {
    std::int64_t rows, columns;
  };
  std::int64_t number = 0;
  for (const ElementType type : kTypes) {
    for (const Shape& s : {Shape{0, 3}, {1, 1}, {1, 40}, {63, 2}, {64, 17}, {65, 16}, {200, 5}, {600000, 2}}) {
      for (const auto& [row_stride, column_stride] : {std::pair<std::int64_t, std::int64_t>{s.columns, 1},
                                                      {s.columns + 3, 1},
                                                      {1, s.rows},
                                                      {1, s.rows + 5},
                                                      {2 * s.columns, 2},
                                                      {-s.columns, 1},
                                                      {-1, -s.rows},
                                                      {1, 0}}) {
        if (s.rows > 1000 && (row_stride > s.columns || row_stride < 0)) continue;
        if (column_stride == 0 && s.columns > 1) continue;  // one column repeated cannot hold different ones
        for (const bool owned : {false, true}) {
          if (!chosen(number++)) continue;
          SCOPED_TRACE(std::string(to_string(type)) + ", " + std::to_string(s.rows) + " x " +
                       std::to_string(s.columns) + ", strides " + std::to_string(row_stride) + " and " +
                       std::to_string(column_stride));
          Filled made = filled(type, s.rows, s.columns, row_stride, column_stride);
          if (owned) made.array.owner = std::make_shared<Buffer<char>>(made.memory);
          RunOptions run;
          run.threads = 3;
          const Table table = table_of(made.array, {}, run);
          ASSERT_EQ(table.n_rows, s.rows);
          ASSERT_EQ(static_cast<std::int64_t>(table.columns.size()), s.columns);
          EXPECT_EQ(n_wrong(table, type), 0);
          const bool narrow = type == ElementType::float32 || size_of(type) <= 2;
          EXPECT_EQ(std::holds_alternative<Buffer<float>>(table.columns[0].data), narrow);
          EXPECT_EQ(table.columns[0].type, is_integer(type) ? ValueType::integer : ValueType::real);
          EXPECT_EQ(table.columns.back().name, "x" + std::to_string(s.columns - 1));
        }
      }
    }
  }
}

TEST(TableOf, RepeatsAColumnOfStrideZero) {
  const std::int16_t values[] = {3, 1, 2};
  const Table table = table_of({values, ElementType::int16, 3, 4, 1, 0});
  for (const Column& column : table.columns) EXPECT_EQ(column.at(2), 2.0);
}

// Nothing is copied: the columns are the array's memory, which lives as long as one of them does.
TEST(TableOf, SharesColumnsThatLieSideBySide) {
  for (const ElementType type : {ElementType::float64, ElementType::float32}) {
    Filled made = filled(type, 100, 3, 1, 101);
    const auto owner = std::make_shared<Buffer<char>>(made.memory);
    made.array.owner = owner;
    Table table = table_of(made.array);
    made.array.owner = nullptr;
    EXPECT_GT(owner.use_count(), 1);
    for (std::size_t c = 0; c < 3; ++c) {
      const auto* const data =
          std::visit([](const auto& buffer) { return static_cast<const void*>(buffer.data()); }, table.columns[c].data);
      EXPECT_EQ(data, made.memory.data() + static_cast<std::int64_t>(c) * 101 * size_of(type));
    }
    table.columns.resize(1);
    EXPECT_EQ(owner.use_count(), 2);
    table = {};
    EXPECT_EQ(owner.use_count(), 1);
  }
}

TEST(TableOf, CopiesWhatHasNoOwnerOrLiesByRows) {
  for (const bool by_rows : {false, true}) {
    Filled made = filled(ElementType::float64, 100, 3, by_rows ? 3 : 1, by_rows ? 1 : 100);
    const auto owner = std::make_shared<Buffer<char>>(made.memory);
    if (by_rows) made.array.owner = owner;
    const Table table = table_of(made.array);
    made.array.owner = nullptr;
    EXPECT_EQ(owner.use_count(), 1);
    std::memset(made.memory.data(), 0, static_cast<std::size_t>(made.memory.size()));
    EXPECT_EQ(n_wrong(table, ElementType::float64), 0);
  }
}

TEST(TableOf, RefusesIntegersThatNoDoubleIs) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 53;
  std::vector<std::int64_t> values(300 * 2, kLimit);
  EXPECT_EQ(table_of({values.data(), ElementType::int64, 300, 2}).columns[1].at(299), 0x1p53);
  for (const std::int64_t beyond : {kLimit + 1, -kLimit - 1, INT64_MAX, INT64_MIN}) {
    values[2 * 170 + 1] = beyond;
    try {
      table_of({values.data(), ElementType::int64, 300, 2}, {"key", "id"});
      ADD_FAILURE() << beyond;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_EQ(error.message(),
                "row 170, column 2: the int64 " + std::to_string(beyond) + " is beyond 2^53 and has no exact float64");
      EXPECT_EQ(error.feature(), "id");
      EXPECT_EQ(error.row(), 170);
    }
  }
}

TEST(TableOf, TakesTheNamesOfTheCaller) {
  const float values[6] = {};
  EXPECT_EQ(table_of({values, ElementType::float32, 3, 2}, {"width", "height"}).columns[1].name, "height");
  expect_error(ErrorCode::invalid_argument, "1 names for 2 columns",
               [&] { table_of({values, ElementType::float32, 3, 2}, {"width"}); });
  expect_error(ErrorCode::invalid_argument, "two columns are named 'width'",
               [&] { table_of({values, ElementType::float32, 3, 2}, {"width", "width"}); });
  expect_error(ErrorCode::invalid_argument, "the array has no data",
               [&] { table_of({nullptr, ElementType::float32, 3, 2}); });
}

TEST(TableOf, LiesInAFileBeyondHalfOfTheMemoryLimit) {
  const Filled made = filled(ElementType::int32, 20000, 4, 4, 1);  // 640,000 bytes as float64
  RunOptions run;
  for (const auto& [limit, storage] : {std::pair{1'280'000, Storage::memory}, {1'279'998, Storage::file}}) {
    run.memory_limit = limit;
    const Table table = table_of(made.array, {}, run);
    EXPECT_EQ(std::get<Buffer<double>>(table.columns[3].data).storage(), storage);
    EXPECT_EQ(n_wrong(table, ElementType::int32), 0);
  }
  run.memory_limit = 100;
  expect_error(ErrorCode::out_of_memory, "the memory limit leaves 100", [&] { table_of(made.array, {}, run); });
}

TEST(TableOf, SaysWhyItCannotReadAGpusArray) {
  const ForcedVariable none("STOPE_CUDA_PLUGIN", "/nowhere");
  const float values[6] = {};
  ArrayView array{values, ElementType::float32, 3, 2};
  array.gpu = 0;
  expect_error(ErrorCode::device_unavailable, "the array: GPU 0 has its memory, but CUDA is off",
               [&] { table_of(array); });
}

TEST(TableOf, StopsWhenItIsCancelled) {
  RunOptions run;
  run.cancel.cancel();
  const float values[6] = {};
  expect_error(ErrorCode::cancelled, "", [&] { table_of({values, ElementType::float32, 3, 2}, {}, run); });
}

}  // namespace
}  // namespace stope
