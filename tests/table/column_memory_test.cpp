// Buffers of a table's columns, whichever memory they share.
#include "table/column_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace stope {
namespace {

// Takes columns of doubles and codes in turn, each filled with its number. None may overlap another, and all must
// outlive the memory.
void expect_apart(Storage storage, std::int64_t n_rows, std::int64_t n_columns) {
  std::vector<Buffer<double>> numbers;
  std::vector<Buffer<std::int32_t>> codes;
  {
    ColumnMemory memory(storage, n_rows, n_columns, n_columns / 2 * 12);
    for (std::int64_t c = 0; c < n_columns / 2; ++c) {
      std::fill_n(numbers.emplace_back(memory.take<double>()).data(), n_rows, static_cast<double>(c));
      std::fill_n(codes.emplace_back(memory.take<std::int32_t>()).data(), n_rows, static_cast<std::int32_t>(c));
    }
  }
  for (std::size_t c = 0; c < numbers.size(); ++c) {
    // Columns of less than a line may share one in memory.
    const auto alignment = [&](std::int64_t size) {
      return storage == Storage::memory && n_rows * size < 64 ? 16U : 64U;
    };
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(numbers[c].data()) % alignment(8), 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(codes[c].data()) % alignment(4), 0U);
    ASSERT_EQ(numbers[c].size(), n_rows);
    ASSERT_EQ(numbers[c].storage(), storage);
    for (std::int64_t row = 0; row < n_rows; ++row) {
      ASSERT_EQ(numbers[c][row], static_cast<double>(c));
      ASSERT_EQ(codes[c][row], static_cast<std::int32_t>(c));
    }
  }
}

TEST(ColumnMemory, ColumnsDoNotOverlap) {
  for (const Storage storage : {Storage::memory, Storage::file}) {
    expect_apart(storage, 12, 6);
    expect_apart(storage, 2, 10'000);
    expect_apart(storage, 12, 10'000);
    expect_apart(storage, 256, 5'000);
    expect_apart(storage, 257, 5'000);
    expect_apart(storage, 0, 5'000);
  }
}

}  // namespace
}  // namespace stope
