// Numbers, sizes and lists as words: what is read, and what is refused with which words.
#include "stope/words.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "stope/report.hpp"

namespace stope {
namespace {

TEST(Words, WholeNumbersMayHaveASign) {
  EXPECT_EQ(parse_integer("+5", "n"), 5);
  EXPECT_EQ(parse_integer("-5", "n"), -5);
  EXPECT_EQ(parse_integer("-9223372036854775808", "n"), INT64_MIN);
  EXPECT_EQ(parse_seed("+18446744073709551615", "seed"), UINT64_MAX);
  for (const char* wrong : {"", "+", "-", "+-5", "++5", "5 ", "5.0", "1e3"}) {
    expect_error(ErrorCode::invalid_argument, "n: '" + std::string(wrong) + "' is not a whole number",
                 [&] { parse_integer(wrong, "n"); });
  }
  expect_error(ErrorCode::invalid_argument, "is too large", [] { parse_integer("9223372036854775808", "n"); });
  expect_error(ErrorCode::invalid_argument, "from 0 to 18446744073709551615", [] { parse_seed("-1", "seed"); });
}

TEST(Words, NumbersAreFiniteAndWhole) {
  EXPECT_EQ(parse_real("+1.5", "p"), 1.5);
  EXPECT_EQ(parse_real("-2e3", "p"), -2000.0);
  for (const char* wrong : {"", "+", "+-1", "1.5x", "1,5", "inf", "nan", "1e999"}) {
    expect_error(ErrorCode::invalid_argument, "p: '" + std::string(wrong) + "' is not a finite number",
                 [&] { parse_real(wrong, "p"); });
  }
}

TEST(Words, SizesHaveUnits) {
  EXPECT_EQ(parse_bytes("1.5GiB", "limit"), 3 * (std::int64_t{1} << 29));
  EXPECT_EQ(parse_bytes("2 kb", "limit"), 2000);
  EXPECT_EQ(parse_bytes("9223372036854774784", "limit"), INT64_MAX - 1023);
  expect_error(ErrorCode::invalid_argument, "is too large", [] { parse_bytes("9223372036854775808", "limit"); });
  expect_error(ErrorCode::invalid_argument, "is too large", [] { parse_bytes("8388608TiB", "limit"); });
  expect_error(ErrorCode::invalid_argument, "is less than one byte", [] { parse_bytes("0.5", "limit"); });
  expect_error(ErrorCode::invalid_argument, "is not a size", [] { parse_bytes("2 XB", "limit"); });
}

TEST(Words, SizesOfMessagesHaveThreeDigitsUpToTheLargest) {
  EXPECT_EQ(format_bytes(999), "999 bytes");
  EXPECT_EQ(format_bytes(999'499), "999 kB");
  EXPECT_EQ(format_bytes(999'500), "1 MB");
  EXPECT_EQ(format_bytes(5'000'000'000'000'000), "5 PB");
  EXPECT_EQ(format_bytes(INT64_MAX), "9.22 EB");
}

TEST(Words, ListsKeepQuotesThatDoNotBeginAnItem) {
  using List = std::vector<std::string>;
  EXPECT_EQ(split_list("a\"b,c", "names"), (List{"a\"b", "c"}));
  EXPECT_EQ(split_list("\"a,\"\"b\",", "names"), (List{"a,\"b", ""}));
  expect_error(ErrorCode::invalid_argument, "has a quote that is not closed", [] { split_list("a,\"b", "names"); });
}

}  // namespace
}  // namespace stope
