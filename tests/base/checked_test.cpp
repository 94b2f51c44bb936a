// Size arithmetic: exact up to the largest size, out_of_memory beyond.
#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace stope {
namespace {

constexpr std::int64_t kMax = INT64_MAX;

void expect_out_of_memory(const std::function<void()>& compute, const std::string& message) {
  try {
    compute();
    FAIL() << "no exception, expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_EQ(error.what(), message);
  }
}

TEST(CheckedMul, IsExactUpToTheLargestSize) {
  EXPECT_EQ(checked::mul(0, kMax), 0);
  EXPECT_EQ(checked::mul(1, kMax), kMax);
  EXPECT_EQ(checked::mul(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_EQ(checked::mul(3037000499, 3037000499), 9223372030926249001);  // the largest square
}

TEST(CheckedMul, ThrowsBeyond) {
  expect_out_of_memory([] { checked::mul(3037000500, 3037000500); },
                       "size 3037000500 x 3037000500 exceeds the address space");
  expect_out_of_memory([] { checked::mul(kMax, 2); }, "size 9223372036854775807 x 2 exceeds the address space");
  expect_out_of_memory([] { checked::mul(std::int64_t{1} << 32, std::int64_t{1} << 32); },  // wraps to 0
                       "size 4294967296 x 4294967296 exceeds the address space");
  expect_out_of_memory([] { checked::mul(-1, 5); }, "size -1 x 5 exceeds the address space");
  expect_out_of_memory([] { checked::mul(INT64_MIN, -1); }, "size -9223372036854775808 x -1 exceeds the address space");
}

TEST(CheckedAdd, IsExactUpToTheLargestSizeAndThrowsBeyond) {
  EXPECT_EQ(checked::add(0, 0), 0);
  EXPECT_EQ(checked::add(kMax - 1, 1), kMax);
  expect_out_of_memory([] { checked::add(kMax, 1); }, "size 9223372036854775807 + 1 exceeds the address space");
  expect_out_of_memory([] { checked::add(1, -2); }, "size 1 + -2 exceeds the address space");
}

TEST(CeilDiv, RoundsUpWithoutOverflow) {
  EXPECT_EQ(checked::ceil_div(0, 32), 0);
  EXPECT_EQ(checked::ceil_div(1, 32), 1);
  EXPECT_EQ(checked::ceil_div(31, 32), 1);
  EXPECT_EQ(checked::ceil_div(32, 32), 1);
  EXPECT_EQ(checked::ceil_div(33, 32), 2);
  EXPECT_EQ(checked::ceil_div(kMax, 1), kMax);
  EXPECT_EQ(checked::ceil_div(kMax, 2), (kMax / 2) + 1);
  EXPECT_EQ(checked::ceil_div(kMax - 1, kMax), 1);
}

}  // namespace
}  // namespace stope
