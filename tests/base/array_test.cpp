// What every job checks of an array that a caller hands in, and which bytes the array covers.
#include "base/array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stope/error.hpp"

namespace stope {
namespace {

constexpr ElementType kTypes[] = {ElementType::float64, ElementType::float32, ElementType::int8,  ElementType::int16,
                                  ElementType::int32,   ElementType::int64,   ElementType::uint8, ElementType::uint16,
                                  ElementType::uint32,  ElementType::boolean};

TEST(ElementTypes, HaveTheSizeOfTheirCppType) {
  for (const ElementType type : kTypes) {
    const auto bytes = with_type(type, [](auto value) { return static_cast<std::int64_t>(sizeof value); });
    EXPECT_EQ(size_of(type), bytes) << to_string(type);
    EXPECT_EQ(is_integer(type), to_string(type).substr(0, 5) != "float") << to_string(type);
  }
}

TEST(Arrays, CoverTheBytesBetweenTheirLowestAndHighestElement) {
  for (const ElementType type : kTypes) {
    for (const std::int64_t rows : {0, 1, 2, 7}) {
      for (const std::int64_t columns : {0, 1, 3}) {
        for (const std::int64_t row_stride : {-11, -1, 1, 3, 11}) {
          for (const std::int64_t column_stride : {-2, -1, 0, 1, 20}) {
            std::int64_t low = 0, high = -1;  // element (0, 0) is there unless one of the sizes is 0
            for (std::int64_t r = 0; r < rows; ++r) {
              for (std::int64_t c = 0; c < columns; ++c) {
                low = std::min(low, r * row_stride + c * column_stride);
                high = std::max(high, r * row_stride + c * column_stride);
              }
            }
            if (rows * columns > 0) high = std::max<std::int64_t>(high, 0);
            const ByteRange range = bytes_of({nullptr, type, rows, columns, row_stride, column_stride});
            EXPECT_EQ(range.first, low * size_of(type));
            EXPECT_EQ(range.size, (high - low + 1) * size_of(type));
          }
        }
      }
    }
  }
}

TEST(Arrays, HaveARowStrideOnceTheyAreChecked) {
  const double x[6] = {};
  EXPECT_EQ(checked_array({x, ElementType::float64, 2, 3}).row_stride, 3);
  EXPECT_EQ(checked_array({x, ElementType::float64, 2, 3, 1, 2}).row_stride, 1);
  EXPECT_EQ(checked_array({x + 5, ElementType::float64, 2, 3, -3, -1}).row_stride, -3);
  EXPECT_EQ(checked_array({nullptr, ElementType::float64, 4, 0}).row_stride, 1);
  EXPECT_EQ(checked_array({x, ElementType::float64, 1, 3, INT64_MAX, 2}).row_stride, 1);
  EXPECT_EQ(checked_array({x, ElementType::float64, 1, 3, INT64_MAX, 1}).row_stride, 3);
  EXPECT_EQ(checked_array({x, ElementType::float64, 3, 0, INT64_MIN}).row_stride, 1);
  EXPECT_EQ(checked_array({x, ElementType::float64, 3, 1, 2, INT64_MIN}).column_stride, 1);
  EXPECT_EQ(checked_array({x, ElementType::float64, 0, 3, 1, INT64_MIN}).column_stride, 1);
}

TEST(Arrays, ThatCannotBeAreRefused) {
  const double x[6] = {};
  const auto expect = [&](ErrorCode code, const std::string& text, const std::function<void(ArrayView&)>& change) {
    ArrayView array{x, ElementType::float64, 2, 3};
    change(array);
    try {
      checked_array(array, "the matrix");
      ADD_FAILURE() << "not refused: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  const auto argument = ErrorCode::invalid_argument, memory = ErrorCode::out_of_memory;
  constexpr std::int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
  expect(argument, "the matrix cannot have -1 rows", [](ArrayView& a) { a.n_rows = -1; });
  expect(argument, "and -4 columns", [](ArrayView& a) { a.n_columns = -4; });
  expect(argument, "the matrix has no data", [](ArrayView& a) { a.data = nullptr; });
  expect(argument, "no element type -1", [](ArrayView& a) { a.type = static_cast<ElementType>(-1); });
  expect(argument, "no element type 10", [](ArrayView& a) { a.type = static_cast<ElementType>(10); });
  expect(argument, "not aligned to the 8 bytes of a float64",
         [](ArrayView& a) { a.data = static_cast<const char*>(a.data) + 4; });
  for (const std::int64_t most : {kMost, kLeast, kMost / 2, kLeast / 2, kMost / 8, kLeast / 8}) {
    expect(memory, "exceeds the address space", [&](ArrayView& a) { a.row_stride = most; });
    expect(memory, "exceeds the address space", [&](ArrayView& a) { a.column_stride = most; });
  }
  expect(memory, "exceeds the address space", [](ArrayView& a) { a.n_rows = kMost; });
  expect(memory, "exceeds the address space", [](ArrayView& a) { a.n_rows = a.n_columns = std::int64_t{1} << 40; });
}

}  // namespace
}  // namespace stope
