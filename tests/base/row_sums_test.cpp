// Sums over rows: their shape as it is described, parts that join to the bits of the whole, and the error bound.
#include "base/row_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "effort.hpp"
#include "oracle/double_double.hpp"

namespace stope {
namespace {

std::vector<double> random_values(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& v : values) v = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(40)));
  return values;
}

// The shape, written a second time from its description.
double in_shape(const std::vector<double>& values) {
  std::vector<double> level;
  for (std::size_t group = 0; group == 0 || group < values.size(); group += 4096) {
    double sum = 0.0;
    for (std::size_t leaf = group; leaf < std::min(group + 4096, values.size()); leaf += 256) {
      double part = 0.0;
      for (std::size_t row = leaf; row < std::min(leaf + 256, values.size()); ++row) part += values[row];
      sum += part;
    }
    level.push_back(sum);
  }
  while (level.size() > 1) {
    std::vector<double> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      next.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
    }
    level = next;
  }
  return level[0];
}

double sum_of(const std::vector<double>& values, std::int64_t begin, std::int64_t n) {
  return sum_over_rows(begin, n, [&](std::int64_t row) { return values[static_cast<std::size_t>(row)]; });
}

const std::vector<std::int64_t> kSizes = {0,    1,    255,  256,   257,   4095,  4096,
                                          4097, 8192, 8193, 12288, 20479, 65536, 200001};

TEST(RowSums, HaveTheDocumentedShape) {
  for (const std::int64_t n : kSizes) {
    const std::vector<double> values = random_values(n, static_cast<std::uint64_t>(n) + 1);
    EXPECT_EQ(sum_of(values, 0, n), in_shape(values)) << n;
    RowSums sums(2);
    for (const double v : values) {
      sums.leaf()[0] += v;
      sums.leaf()[1] -= v;
      sums.row_added();
    }
    const double* const both = sums.finish();
    EXPECT_EQ(both[0], in_shape(values)) << n;
    EXPECT_EQ(both[1], -in_shape(values)) << n;
  }
}

TEST(RowSums, PartsJoinToTheBitsOfTheWhole) {
  Random random(17);
  for (std::int64_t round = 0; round < repeated<std::int64_t>(100, 20); ++round) {
    const auto n = 1 + static_cast<std::int64_t>(random.below(300'000));
    const std::int64_t part = kSumGroupRows << random.below(5);
    const std::vector<double> values = random_values(n, random.below(1'000'000));
    SumTree parts(1);
    for (std::int64_t begin = 0; begin < n; begin += part) {
      const double sum = sum_of(values, begin, std::min(part, n - begin));
      parts.push(&sum);
    }
    ASSERT_EQ(*parts.finish(), sum_of(values, 0, n)) << n << " rows in parts of " << part;
  }
}

TEST(RowSums, StayWithinTheirErrorBound) {
  for (const std::int64_t n : {256, 4096, 100'000, 300'001}) {
    const std::vector<double> values = random_values(n, static_cast<std::uint64_t>(7 * n));
    const auto at = [&](std::int64_t row) { return values[static_cast<std::size_t>(row)]; };
    const oracle::ExactProduct exact = oracle::exact_product(n, at, [](std::int64_t) { return 1.0; });
    const double additions = 255 + 15 + std::ceil(std::log2(std::ceil(static_cast<double>(n) / 4096)));
    EXPECT_LE(exact.sum.distance(sum_of(values, 0, n)), additions * 0x1p-53 * exact.magnitude) << n;
  }
}

TEST(SumTree, HoldsOneArrayALevelAndStartsAnew) {
  EXPECT_EQ(SumTree::most_levels(1), 1);
  EXPECT_EQ(SumTree::most_levels(7), 3);
  EXPECT_EQ(SumTree::most_levels(8), 4);
  SumTree tree(3);
  for (int run = 0; run < 2; ++run) {
    for (double i = 1; i <= 7; ++i) {
      const double values[] = {i, 10 * i, -i};
      tree.push(values);
    }
    const double* const root = tree.finish();
    EXPECT_EQ(root[0], 28);
    EXPECT_EQ(root[1], 280);
    EXPECT_EQ(root[2], -28);
    tree.clear();
  }
}

}  // namespace
}  // namespace stope
