// Random: the published SplitMix64 sequence, and unbiased integers.
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace stope {
namespace {

TEST(Random, GivesThePublishedSequences) {
  Random zero(0);
  for (const std::uint64_t expected : {0xe220a8397b1dcdafULL, 0x6e789e6aa1b965f4ULL, 0x06c45d188009454fULL,
                                       0xf88bb8a8724c81ecULL, 0x1b39896a51a8749bULL}) {
    EXPECT_EQ(zero.next(), expected);
  }
  Random other(1234567);
  for (const std::uint64_t expected : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                       4593380528125082431ULL, 16408922859458223821ULL}) {
    EXPECT_EQ(other.next(), expected);
  }
}

TEST(Random, BelowIsUniform) {
  // Chi-square against uniform; a fixed seed, so the outcome is fixed too. The 99.99 % quantiles for 1, 2, 6 and 99
  // degrees of freedom are 15.1, 18.4, 27.9 and 158.
  const std::vector<std::pair<std::uint64_t, double>> cases = {{2, 15.1}, {3, 18.4}, {7, 27.9}, {100, 158.0}};
  for (const auto& [bound, limit] : cases) {
    Random random(42);
    constexpr int kDraws = 70000;
    std::vector<int> counts(bound, 0);
    for (int i = 0; i < kDraws; ++i) {
      const std::uint64_t value = random.below(bound);
      ASSERT_LT(value, bound);
      ++counts[value];
    }
    const double expected = kDraws / static_cast<double>(bound);
    double chi_square = 0.0;
    for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi_square, limit) << "bound " << bound;
  }
}

TEST(Random, BelowRejectsInsteadOfFavouringSmallValues) {
  // With a bound of 3/4 of 2^64 a plain remainder would return the lower third twice as often as the others.
  const std::uint64_t bound = 3ULL << 62;
  Random random(9);
  std::array<int, 3> thirds{};
  for (int i = 0; i < 30000; ++i) ++thirds[random.below(bound) >> 62];
  for (const int count : thirds) EXPECT_NEAR(count, 10000, 400);
}

TEST(Random, BelowOneIsZero) {
  Random random(5);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, UniformIsInTheHalfOpenUnitInterval) {
  Random random(11);
  double sum = 0.0;
  for (int i = 0; i < 100000; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
  // The first number of seed 0 is 0xe220a8397b1dcdaf: its upper 53 bits as a fraction.
  EXPECT_EQ(Random(0).uniform(), static_cast<double>(0xe220a8397b1dcdafULL >> 11) / 9007199254740992.0);
}

}  // namespace
}  // namespace stope
