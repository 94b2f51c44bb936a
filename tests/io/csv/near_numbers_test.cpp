// Spellings of numbers and dates that no reading takes: the ways in which each can be read.
#include "io/csv/near_numbers.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace stope::io::csv {
namespace {

TEST(NearNumbers, HaveTheWaysInWhichTheyCanBeRead) {
  EXPECT_EQ(near_numbers_of("10%"), kPercent);
  EXPECT_EQ(near_numbers_of("-1,5 %"), kPercent);
  EXPECT_EQ(near_numbers_of("+1,234.5%"), kPercent);
  EXPECT_EQ(near_numbers_of("1.234,5%"), kPercent);
  EXPECT_EQ(near_numbers_of(".5%"), kPercent);
  EXPECT_EQ(near_numbers_of("-$5"), kCurrency);
  EXPECT_EQ(near_numbers_of("5 EUR"), kCurrency);
  EXPECT_EQ(near_numbers_of("+1,500"), kCommaThousands | kDecimalComma);
  EXPECT_EQ(near_numbers_of("1,500,000.25"), kCommaThousands);
  EXPECT_EQ(near_numbers_of("1.500.000,25"), kPointThousands);
  EXPECT_EQ(near_numbers_of("0,5"), kDecimalComma);
  EXPECT_EQ(near_numbers_of("31/12/2024"), kOtherDate);
  EXPECT_EQ(near_numbers_of("1-2-2024 10:00"), kOtherDate);
}

TEST(NearNumbers, APlainNumberFitsInWithAnyWay) {
  EXPECT_EQ(near_numbers_of("1.500"), kAnyNearNumber);
  EXPECT_EQ(near_numbers_of("15"), kAnyNearNumber & ~static_cast<unsigned>(kPointThousands));
  EXPECT_EQ(near_numbers_of("1.50"), kAnyNearNumber & ~static_cast<unsigned>(kPointThousands));
}

TEST(NearNumbers, OtherTextsHaveNone) {
  for (const std::string_view text : {"", "-", "-%", "%", "+ %", "x%", "1x%", "1,234;5%", "1,234.x", "1,234.5x", "$",
                                      "$x", "1/2/24", "1/2/2024x", "1/2", "1:2:2024", "1/234/2024"}) {
    EXPECT_EQ(near_numbers_of(text), 0U) << text;
  }
  EXPECT_EQ(name_of_near_numbers(0), "");
  EXPECT_NE(name_of_near_numbers(kPercent), name_of_near_numbers(kCurrency));
}

}  // namespace
}  // namespace stope::io::csv
