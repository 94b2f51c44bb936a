// Quantiles are those of the sorted values, whatever the threads, and whatever the values lie in.
#include "stats/quantiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "environment.hpp"
#include "expect_error.hpp"
#include "same_table.hpp"
#include "stats/stats_cases.hpp"
#include "stope/error.hpp"
#include "stope/stats.hpp"

namespace stope {
namespace {

using namespace stats_cases;

const double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
const std::vector<double> kShares = {0.0, 0.05, 0.25, 1.0 / 3.0, 0.5, 0.75, 0.999, 1.0};

// `values` are sorted; interpolates in long double.
template <class T>
long double sorted_quantile(const std::vector<T>& values, double share) {
  if (values.empty()) return std::numeric_limits<long double>::quiet_NaN();
  const double position = static_cast<double>(values.size() - 1) * share;
  const auto at = static_cast<std::size_t>(position);
  const auto below = static_cast<long double>(static_cast<double>(values[at]));
  if (at + 1 == values.size() || static_cast<double>(at) == position) return below;
  const auto above = static_cast<long double>(static_cast<double>(values[at + 1]));
  const auto fraction = static_cast<long double>(position - static_cast<double>(at));
  return below == above ? below : below + (above - below) * fraction;
}

template <class T>
std::vector<double> quantiles_of(const std::vector<T>& values, const RunOptions& run = {},
                                 std::vector<double> shares = kShares) {
  StatsOptions options;
  options.quantiles = std::move(shares);
  return describe(ArrayView{values.data(), element_type<T>(), std::ssize(values)}, options, run).columns[0].quantiles;
}

template <class T>
void expect_sorted(const std::vector<T>& values) {
  const std::vector<double> found = quantiles_of(values);
  ASSERT_EQ(found.size(), kShares.size());
  std::vector<T> sorted = values;
  std::erase_if(sorted, [](T v) { return v != v; });
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    const long double expected = sorted_quantile(sorted, kShares[i]);
    if (std::isnan(expected) || std::isinf(expected)) {
      EXPECT_EQ(std::isnan(expected), std::isnan(found[i])) << kShares[i];
      if (!std::isnan(expected)) {
        EXPECT_EQ(found[i], static_cast<double>(expected)) << kShares[i];
      }
      continue;
    }
    const long double scale = std::max<long double>(std::fabs(expected), 1e-300L);
    EXPECT_LE(std::fabs(static_cast<long double>(found[i]) - expected), 4e-16L * scale) << kShares[i];
  }
}

template <class T>
class QuantilesOf : public testing::Test {};
using Elements = testing::Types<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(QuantilesOf, Elements);

TYPED_TEST(QuantilesOf, HasTheQuantilesOfItsSortedValues) {
  for (const std::int64_t n : {0, 1, 2, 3, 100, 131071, 131072, 300000}) {
    SCOPED_TRACE(n);
    Random random(static_cast<std::uint64_t>(n) + 1);
    std::vector<TypeParam> values;
    values.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<TypeParam>(random.below(100)));
    expect_sorted(values);
  }
}

// Each shape takes another way through the digits: spread out, all in one bucket, all the same, neighbours in the last
// bit.
TEST(Quantiles, OfLongColumnsAreThoseOfTheSortedValues) {
  constexpr std::int64_t kRows = 400'000;
  for (int shape = 0; shape < 8; ++shape) {
    SCOPED_TRACE(shape);
    Random random(11);
    std::vector<double> values;
    values.reserve(kRows);
    for (std::int64_t i = 0; i < kRows; ++i) {
      const double u = random.uniform();
      double value = u - 0.5;
      if (shape == 1) value = 1000.0 + u / 1024.0;
      if (shape == 2) value = 7.0;
      if (shape == 3) value = 1.0 + static_cast<double>(random.below(8)) * 0x1p-52;
      if (shape == 4) value = std::ldexp(u - 0.5, static_cast<int>(random.below(2000)) - 1000);
      if (shape == 5) value = static_cast<double>(random.below(3)) - 1.0;
      if (shape == 6) value = random.below(4) == 0 ? kNan : u;
      if (shape == 7) value = random.below(3) == 0 ? (random.below(2) == 0 ? kInf : -kInf) : u;
      values.push_back(value);
    }
    expect_sorted(values);
  }
}

TEST(Quantiles, HaveTheSameBitsForAnyThreadsAndAnyMemory) {
  Random random(3);
  std::vector<double> values;
  for (std::int64_t i = 0; i < 500'000; ++i) values.push_back(random.below(9) == 0 ? kNan : random.uniform() - 0.5);
  RunOptions one;
  one.threads = 1;
  const std::vector<double> expected = quantiles_of(values, one);
  for (const int threads : {2, 3, 8}) {
    for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{1} << 20, std::int64_t{1} << 26}) {
      RunOptions run;
      run.threads = threads;
      run.memory_limit = limit;
      const std::vector<double> found = quantiles_of(values, run);
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(bits(found[i]), bits(expected[i])) << threads;
    }
  }
}

TEST(Quantiles, InterpolateAsNumPyDoes) {
  EXPECT_EQ(quantiles_of<double>({1.0, 2.0, 4.0, 8.0}, {}, {0.25, 0.5, 0.75}), (std::vector<double>{1.75, 3.0, 5.0}));
  EXPECT_EQ(quantiles_of<double>({5.0}, {}, {0.0, 0.5, 1.0}), (std::vector<double>{5.0, 5.0, 5.0}));
  EXPECT_EQ(quantiles_of<double>({-0.3, 0.1}, {}, {0.75})[0], 0.1 - (0.1 + 0.3) * (1.0 - 0.75));  // from the nearer end
  EXPECT_EQ(quantiles_of<double>({-1e308, 1e308}, {}, {0.5})[0], 0.0);
  EXPECT_EQ(quantiles_of<double>({kInf, kInf, 1.0}, {}, {0.5, 0.75}), (std::vector<double>{kInf, kInf}));
  EXPECT_EQ(quantiles_of<double>({-kInf, 1.0}, {}, {0.5})[0], -kInf);
  EXPECT_EQ(quantiles_of<double>({1.0, kInf}, {}, {0.75})[0], kInf);
  EXPECT_TRUE(std::isnan(quantiles_of<double>({-kInf, kInf}, {}, {0.5})[0]));
  EXPECT_TRUE(std::isnan(quantiles_of<double>({kNan, kNan}, {}, {0.5})[0]));
}

TEST(Quantiles, OfClassesAreThoseOfTheirRows) {
  Random random(5);
  std::vector<double> x;
  std::vector<std::int32_t> by;
  std::vector<std::vector<double>> parts(3);
  for (std::int64_t row = 0; row < 1000; ++row) {
    x.push_back(random.uniform());
    by.push_back(static_cast<std::int32_t>(random.below(4)) - 1);
    if (by.back() >= 0) parts[static_cast<std::size_t>(by.back())].push_back(x.back());
  }
  Table table;
  table.n_rows = 1000;
  table.columns = {make_numeric("x", x), make_nominal("class", by, {"a", "b", "c", "nobody"})};
  StatsOptions options;
  options.by = "class";
  options.quantiles = {0.5, 0.1};
  const Statistics found = describe(table, options);
  ASSERT_EQ(found.classes.size(), 4U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(found.classes[k].columns[0].quantiles, quantiles_of(parts[k], {}, {0.5, 0.1}));
    EXPECT_TRUE(found.classes[k].columns[1].quantiles.empty());
  }
  EXPECT_TRUE(std::isnan(found.classes[3].columns[0].quantiles.at(0)));
}

TEST(Quantiles, SharesOutsideTheUnitIntervalAreRefused) {
  for (const double share : {-0.1, 1.0000001, kNan, kInf}) {
    try {
      quantiles_of<double>({1.0}, {}, {0.5, share});
      FAIL() << share;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.option(), "quantiles");
    }
  }
  expect_error(ErrorCode::invalid_argument, "1001 quantiles: at most 1000 at a time",
               [&] { quantiles_of<double>({1.0}, {}, std::vector<double>(1001, 0.5)); });
  EXPECT_NO_THROW(quantiles_of<double>({1.0}, {}, std::vector<double>(1000, 0.5)));
}

}  // namespace
}  // namespace stope
