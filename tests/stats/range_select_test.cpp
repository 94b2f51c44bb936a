// The values of ranks are those of the sorted values, bit for bit, however the values lie in their range.
#include "stats/range_select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "stats/stats_cases.hpp"

namespace stope::stats {
namespace {

using namespace stats_cases;

std::vector<double> present(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values;
}

void expect_sorted(const std::vector<double>& values) {
  if (values.empty()) return;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return key_of(a) < key_of(b); });
  const auto n = std::ssize(values);
  std::vector<std::int64_t> ranks = {0, 1, n / 100, n / 3, n / 3 + 1, n / 2, n - 2, n - 1};
  std::erase_if(ranks, [&](std::int64_t rank) { return rank < 0 || rank >= n; });
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  constexpr std::int64_t kBefore = 1000;  // ranks may count from elsewhere
  std::vector<Ranked> wanted;
  for (const std::int64_t rank : ranks) wanted.push_back({kBefore + rank});
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  select_by_range(values, *low, *high, kBefore, {}, wanted);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double expected = sorted[static_cast<std::size_t>(ranks[i])];
    ASSERT_EQ(std::bit_cast<std::uint64_t>(wanted[i].value), std::bit_cast<std::uint64_t>(expected)) << ranks[i];
  }
}

TEST(RangeSelect, FindsTheValuesOfRanksInEveryKindOfColumn) {
  for (const std::string& kind : kinds()) {
    for (const std::int64_t n : {1, 2, 1023, 1024, 1025, 5000, 100'000}) {
      SCOPED_TRACE(kind + ", " + std::to_string(n));
      expect_sorted(present(column_of<double>(kind, n, 3)));
    }
  }
}

// Most values lie in one part of the range, of whose range most lie in one part, and so on.
TEST(RangeSelect, CutsThePartsInWhichValuesCrowd) {
  Random random(2);
  std::vector<double> values;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const double sign = random.below(2) == 0 ? -1.0 : 1.0;
    values.push_back(sign * std::pow(random.uniform(), 40.0));
  }
  expect_sorted(values);
  values.push_back(1e300);  // one value far away
  expect_sorted(values);
  values.push_back(-1e300);
  expect_sorted(values);
}

TEST(RangeSelect, TellsZerosApart) {
  Random random(4);
  std::vector<double> values;
  for (std::int64_t i = 0; i < 5000; ++i) {
    const std::uint64_t kind = random.below(4);
    values.push_back(kind == 0 ? -0.0 : kind == 1 ? 0.0 : random.uniform() - 0.5);
  }
  expect_sorted(values);
}

}  // namespace
}  // namespace stope::stats
