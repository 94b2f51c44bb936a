// pairwise_sum: a fixed shape, and the error bound that goes with it.
#include "base/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"

namespace stope {
namespace {

// The shape, written a second time from its description: leaves of at most 128 values, and a split at the first
// multiple of 128 at or after the middle.
double shape(const double* values, std::size_t n) {
  if (n <= 128) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += values[i];
    return sum;
  }
  std::size_t middle = n / 2;
  while (middle % 128 != 0) ++middle;
  return shape(values, middle) + shape(values + middle, n - middle);
}

std::vector<double> random_values(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(n);
  for (double& v : values) v = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(40)));
  return values;
}

TEST(PairwiseSum, HasTheDocumentedShape) {
  for (const std::size_t n :
       {0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 383, 384, 385, 1000, 4095, 4096, 4097, 100003}) {
    const std::vector<double> values = random_values(n, n);
    EXPECT_EQ(pairwise_sum(values), shape(values.data(), n)) << n << " values";
  }
}

TEST(PairwiseSum, StaysWithinItsErrorBound) {
  for (const std::size_t n : {1, 128, 129, 10000, 300001}) {
    const std::vector<double> values = random_values(n, 7 * n + 1);
    // A 64-bit mantissa with compensation is exact enough to judge a double sum.
    long double exact = 0.0L, lost = 0.0L, absolute = 0.0L;
    for (const double v : values) {
      const long double y = static_cast<long double>(v) - lost;
      const long double t = exact + y;
      lost = (t - exact) - y;
      exact = t;
      absolute += std::fabs(static_cast<long double>(v));
    }
    const double additions = 127.0 + std::ceil(std::log2(static_cast<double>(n) / 128.0 + 1.0)) + 1.0;
    const long double bound = static_cast<long double>(additions * 0x1.0p-53) * absolute;
    EXPECT_LE(std::fabs(static_cast<long double>(pairwise_sum(values)) - exact), bound) << n << " values";
  }
}

TEST(PairwiseSum, IsFarMoreAccurateThanARunningSum) {
  const std::vector<double> tenths(10'000'000, 0.1);
  double running = 0.0;
  for (const double v : tenths) running += v;
  EXPECT_GT(std::abs(running - 1e6), 1e-5);
  EXPECT_LT(std::abs(pairwise_sum(tenths) - 1e6), 1e-7);
}

TEST(PairwiseSum, IsTheSameFromAnyThread) {
  const std::vector<double> values = random_values(54321, 3);
  const double expected = pairwise_sum(values);
  ThreadPool pool(8);
  std::vector<double> sums(64);
  pool.parallel_for(64, CancelToken(),
                    [&](std::int64_t i, int) { sums[static_cast<std::size_t>(i)] = pairwise_sum(values); });
  for (const double sum : sums) EXPECT_EQ(sum, expected);
}

TEST(PairwiseSum, PropagatesNaNAndInfinity) {
  std::vector<double> values(300, 1.0);
  values[200] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(pairwise_sum(values), std::numeric_limits<double>::infinity());
  values[100] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(pairwise_sum(values)));
}

}  // namespace
}  // namespace stope
