#include "discretize/score.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "effort.hpp"

namespace stope::discretize {
namespace {

struct Rows {
  std::vector<std::int64_t> classes, weights;
};

Rows random_rows(Random& random, std::int64_t n_classes, bool weighted) {
  Rows rows;
  const std::uint64_t n = 1 + random.below(40);
  for (std::uint64_t i = 0; i < n; ++i) {
    rows.classes.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n_classes))));
    rows.weights.push_back(weighted ? 1 + static_cast<std::int64_t>(random.below(5000)) : 1);
  }
  return rows;
}

// Counts every pair, one after the other: rows [0, cut) are left.
std::int64_t count_pairs(const Rows& rows, std::size_t cut) {
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < cut; ++i) {
    for (std::size_t j = cut; j < rows.classes.size(); ++j) {
      if (rows.classes[i] != rows.classes[j]) pairs += rows.weights[i] * rows.weights[j];
    }
  }
  return pairs;
}

TEST(Score, TwoClassesHaveAFormulaOfTheirOwn) {
  Random random(4);
  for (int trial = 0; trial < 1000; ++trial) {
    const std::uint64_t most = trial % 2 == 0 ? 8 : 32768;  // together 65,535: the products need 33 bits, W does not
    const auto first = static_cast<std::int64_t>(random.below(most)), second = static_cast<std::int64_t>(most) - 1;
    const std::int64_t both[] = {first, second};
    const std::int64_t left[] = {static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(first) + 1)),
                                 static_cast<std::int64_t>(random.below(most))};
    const auto want = discernibility<std::int64_t>(left, both, 2);
    ASSERT_EQ(discernibility_of_two<std::int64_t>(left[0], left[0] + left[1], first, second), want);
    ASSERT_EQ(discernibility_of_two<std::uint32_t>(
                  static_cast<std::uint32_t>(left[0]), static_cast<std::uint32_t>(left[0] + left[1]),
                  static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)),
              want);
  }
}

TEST(Score, StepsAddUpToTheNumberOfSeparatedPairs) {
  Random random(3);
  for (int trial = 0; trial < 400; ++trial) {
    const auto n_classes = static_cast<std::int64_t>(1 + random.below(6));
    const Rows rows = random_rows(random, n_classes, trial % 2 == 1);
    std::vector<std::int64_t> both(static_cast<std::size_t>(n_classes)), left = both;
    std::int64_t total = 0, in_left = 0;
    for (std::size_t i = 0; i < rows.classes.size(); ++i) {
      both[static_cast<std::size_t>(rows.classes[i])] += rows.weights[i];
      total += rows.weights[i];
    }
    std::int64_t sum = 0;
    Int128 wide = 0;
    for (std::size_t i = 0; i < rows.classes.size(); ++i) {
      ASSERT_EQ(sum, count_pairs(rows, i));
      ASSERT_EQ(sum, static_cast<std::int64_t>(wide));
      ASSERT_EQ(sum, discernibility<std::int64_t>(left.data(), both.data(), n_classes));
      const auto k = static_cast<std::size_t>(rows.classes[i]);
      sum += discernibility_step<std::int64_t>(rows.weights[i], total, both[k], in_left, left[k]);
      wide += discernibility_step<Int128>(rows.weights[i], total, both[k], in_left, left[k]);
      left[k] += rows.weights[i];
      in_left += rows.weights[i];
    }
    ASSERT_EQ(sum, 0);  // everything is left: nothing is separated
  }
}

TEST(Score, TwiceWIsGiniWithSquaredSizes) {
  // The identity of the rule book in integers: 2 W = n^2 G(P) - L^2 G(L) - R^2 G(R).
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    std::int64_t left[5], both[5], n = 0, l = 0, squares = 0, left_squares = 0, right_squares = 0;
    for (int k = 0; k < 5; ++k) {
      left[k] = static_cast<std::int64_t>(random.below(1000));
      both[k] = left[k] + static_cast<std::int64_t>(random.below(1000));
      n += both[k];
      l += left[k];
      squares += both[k] * both[k];
      left_squares += left[k] * left[k];
      right_squares += (both[k] - left[k]) * (both[k] - left[k]);
    }
    const std::int64_t twice = (n * n - squares) - (l * l - left_squares) - ((n - l) * (n - l) - right_squares);
    EXPECT_EQ(2 * discernibility<std::int64_t>(left, both, 5), twice);
  }
}

TEST(Score, BillionsOfPairsDoNotOverflow) {
  const std::int64_t half = 50000;  // RoughSets and Rseslib count 705,032,704 here
  const std::int64_t left[2] = {half, 0}, both[2] = {half, half};
  EXPECT_EQ(discernibility<std::int64_t>(left, both, 2), std::int64_t{2500000000});
  const std::int64_t most = kMostRows / 2;
  const std::int64_t many_left[2] = {most, 0}, many[2] = {most, kMostRows - most};
  EXPECT_EQ(discernibility<std::int64_t>(many_left, many, 2), most * (kMostRows - most));
  EXPECT_GT(most * (kMostRows - most), 0);
  // With weights, 2^61 units on each side make 2^122 pairs.
  const std::int64_t heavy = std::int64_t{1} << 60;
  const std::int64_t heavy_left[2] = {heavy, 0}, heavy_both[2] = {heavy, heavy};
  EXPECT_EQ(discernibility<Int128>(heavy_left, heavy_both, 2), static_cast<Int128>(heavy) * heavy);
}

TEST(Score, GiniAndEntropyGainsOfAKnownSplit) {
  // 3 + 1 of 4 + 4 rows are left: Gini is 1/2, of the parts 3/8; entropy is 1 bit, of the parts 0.8112781244591328.
  EXPECT_DOUBLE_EQ(gini_gain(9 + 1, 4, 1 + 9, 4, 16 + 16), 0.125);
  const std::int64_t left[2] = {3, 1}, both[2] = {4, 4};
  EXPECT_DOUBLE_EQ(total_entropy(both, 2), 8.0);
  EXPECT_NEAR(total_entropy(left, 2), 4 * 0.8112781244591328, 1e-14);
  EXPECT_EQ(total_entropy(left, 1), 0.0);
  EXPECT_EQ(information(0.0), 0.0);
  EXPECT_EQ(information(1.0), 0.0);
  const std::int64_t same[2] = {2, 2};
  EXPECT_TRUE(same_proportions(same, 4, both, 8, 2));
  EXPECT_FALSE(same_proportions(left, 4, both, 8, 2));
}

// docs/numerics/discretize.md has the bound's proof.
TEST(Score, GainsThatAreRoundingAreBelowTheirBound) {
  Random random(4);
  double highest = 0.0;
  const int n_pairs = repeated(20000, 2000);
  for (int i = 0; i < n_pairs; ++i) {
    const std::size_t n_classes = 2 + random.below(255);
    const auto times_left = static_cast<std::int64_t>(1 + random.below(9)),
               times_right = static_cast<std::int64_t>(1 + random.below(9));
    const std::uint64_t most = 1 + random.below(((std::uint64_t{1} << 30) - 1) / (18 * n_classes));
    std::vector<std::int64_t> left, right, both;
    std::int64_t n_left = 0, n_right = 0, squares[3] = {};
    for (std::size_t k = 0; k < n_classes; ++k) {
      const auto n = static_cast<std::int64_t>(1 + random.below(most));
      left.push_back(times_left * n);
      right.push_back(times_right * n);
      both.push_back(left[k] + right[k]);
      n_left += left[k];
      n_right += right[k];
      squares[0] += left[k] * left[k];
      squares[1] += right[k] * right[k];
      squares[2] += both[k] * both[k];
    }
    const auto n = static_cast<std::int64_t>(n_classes);
    ASSERT_TRUE(same_proportions(left.data(), n_left, both.data(), n_left + n_right, n));
    const double gini = gini_gain(squares[0], n_left, squares[1], n_right, squares[2]);
    const double entropy = entropy_gain(total_entropy(both.data(), n), total_entropy(left.data(), n),
                                        total_entropy(right.data(), n), n_left + n_right);
    ASSERT_LE(gini, 9 * 0x1.0p-53);
    ASSERT_LE(entropy, kMostRoundedGain);
    highest = std::max(highest, entropy);
  }
  EXPECT_GT(highest, 0.0);
}

}  // namespace
}  // namespace stope::discretize
