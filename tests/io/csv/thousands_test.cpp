#include "io/csv/thousands.hpp"

#include <gtest/gtest.h>

#include <random>
#include <regex>

namespace stope::io::csv {
namespace {

TEST(Thousands, AreGroupsOfThreeAsARegularExpressionSays) {
  const std::regex well_formed("[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.eE].*)?");
  std::mt19937 random(3);
  const std::string letters = "0123456789,,,.-e";
  int taken = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n) text += letters[random() % (i % 2 == 0 ? letters.size() : 12)];
    std::string plain;
    const bool ours = without_thousands(text, ',', '.', plain);
    ASSERT_EQ(ours, std::regex_match(text, well_formed)) << text;
    if (!ours) continue;
    ++taken;
    const std::size_t end = text.find_first_of(".eE");
    std::string expected = text.substr(0, end);
    std::erase(expected, ',');
    ASSERT_EQ(plain, expected + (end == std::string::npos ? "" : text.substr(end)));
  }
  EXPECT_GT(taken, 100);
}

TEST(Thousands, ABlankStandsForNoBreakSpaces) {
  std::string plain;
  EXPECT_TRUE(
      without_thousands("1\xC2\xA0"
                        "234\xE2\x80\xAF"
                        "567 890,5",
                        ' ', ',', plain));
  EXPECT_EQ(plain, "1234567890,5");
  EXPECT_FALSE(
      without_thousands("1\xC2\xA0"
                        "234",
                        '.', ',', plain));
}

}  // namespace
}  // namespace stope::io::csv
