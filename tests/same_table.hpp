// Two tables that are the same, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "stope/table.hpp"

namespace stope {

inline std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

inline void expect_equal(const Table& a, const Table& b) {
  ASSERT_EQ(a.columns.size(), b.columns.size());
  ASSERT_EQ(a.n_rows, b.n_rows);
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    const Column& left = a.columns[c];
    const Column& right = b.columns[c];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(left.type, right.type);
    EXPECT_EQ(left.role, right.role);
    EXPECT_EQ(left.values, right.values);
    EXPECT_EQ(left.data.index(), right.data.index());
    for (std::int64_t row = 0; row < a.n_rows; ++row) {
      EXPECT_EQ(bits(left.at(row)), bits(right.at(row))) << left.name << " " << row;
    }
  }
}

}  // namespace stope
