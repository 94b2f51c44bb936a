// Splits hold every row once, with balanced sizes and classes, and are the same for a seed everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope {
namespace {

using Rows = std::vector<std::int64_t>;
using Codes = std::vector<std::int32_t>;

void expect_invalid(const std::string& message, const std::function<void()>& act) {
  try {
    act();
    FAIL() << "no exception, expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.what(), message);
  }
}

// Returns codes -1, 0, ..., n_classes - 1 with very different frequencies.
Codes skewed_labels(std::int64_t n_rows, std::int32_t n_classes, std::uint64_t seed) {
  Random random(seed);
  Codes labels;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const double u = random.uniform();
    labels.push_back(static_cast<std::int32_t>(u * u * u * (n_classes + 1)) - 1);
  }
  return labels;
}

std::map<std::int32_t, std::int64_t> class_counts(const Rows& rows, const Codes& labels) {
  std::map<std::int32_t, std::int64_t> counts;
  for (const std::int64_t row : rows) ++counts[labels[static_cast<std::size_t>(row)]];
  return counts;
}

// Returns the largest minus the smallest f over the folds.
std::int64_t spread(const std::vector<Rows>& folds, const std::function<std::int64_t(const Rows&)>& f) {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = 0;
  for (const Rows& fold : folds) {
    low = std::min(low, f(fold));
    high = std::max(high, f(fold));
  }
  return high - low;
}

void expect_partition(const std::vector<Rows>& folds, std::int64_t n_rows) {
  Rows all;
  for (const Rows& fold : folds) {
    EXPECT_TRUE(std::is_sorted(fold.begin(), fold.end()));
    all.insert(all.end(), fold.begin(), fold.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(static_cast<std::int64_t>(all.size()), n_rows);
  for (std::int64_t row = 0; row < n_rows; ++row) ASSERT_EQ(all[static_cast<std::size_t>(row)], row);
}

TEST(Folds, PutEveryRowInExactlyOneFoldOfBalancedSize) {
  for (const std::int64_t n : {2, 3, 31, 32, 33, 100, 1001}) {
    for (const std::int64_t k : {2, 3, 5, 10, 31, 33}) {
      if (k > n) continue;
      const std::vector<Rows> folds = cross_validation_folds(n, k, 1);
      ASSERT_EQ(static_cast<std::int64_t>(folds.size()), k);
      expect_partition(folds, n);
      EXPECT_LE(spread(folds, [](const Rows& fold) { return static_cast<std::int64_t>(fold.size()); }), 1);
    }
  }
}

TEST(Folds, StratifiedFoldsBalanceSizesAndClassesAtOnce) {
  for (const std::int64_t n : {10, 33, 200, 1001}) {
    const Codes labels = skewed_labels(n, 6, static_cast<std::uint64_t>(n));
    for (const std::int64_t k : {2, 3, 7, 10}) {
      const std::vector<Rows> folds = cross_validation_folds(n, k, 5, labels);
      expect_partition(folds, n);
      EXPECT_LE(spread(folds, [](const Rows& fold) { return static_cast<std::int64_t>(fold.size()); }), 1);
      for (std::int32_t c = kMissingCode; c < 6; ++c) {
        EXPECT_LE(spread(folds, [&](const Rows& fold) { return class_counts(fold, labels)[c]; }), 1)
            << n << " rows, " << k << " folds, class " << c;
      }
    }
  }
}

TEST(Folds, AClassMayHaveFewerRowsThanThereAreFolds) {
  Codes labels(20, 0);
  labels[3] = labels[11] = labels[19] = 1;
  const std::vector<Rows> folds = cross_validation_folds(20, 10, 0, labels);
  expect_partition(folds, 20);
  std::int64_t with_rare = 0;
  for (const Rows& fold : folds) {
    EXPECT_EQ(fold.size(), 2u);
    with_rare += class_counts(fold, labels)[1];
    EXPECT_LE(class_counts(fold, labels)[1], 1);
  }
  EXPECT_EQ(with_rare, 3);
}

TEST(Folds, FollowTheSeed) {
  // These rows are fixed: the same on every machine, compiler and standard library.
  EXPECT_EQ(cross_validation_folds(10, 3, 42), (std::vector<Rows>{{0, 3, 7, 8}, {2, 6, 9}, {1, 4, 5}}));
  EXPECT_EQ(cross_validation_folds(10, 3, 42, {0, 1, 0, 1, 0, 1, 0, 1, 0, 0}),
            (std::vector<Rows>{{0, 3, 5, 6}, {4, 7, 9}, {1, 2, 8}}));
  EXPECT_EQ(cross_validation_folds(1000, 10, 7), cross_validation_folds(1000, 10, 7));
  EXPECT_NE(cross_validation_folds(1000, 10, 7), cross_validation_folds(1000, 10, 8));
}

TEST(Folds, AreShuffledFairly) {
  // Over many seeds each row is as often in the first fold as in any other.
  constexpr int kSeeds = 6000;
  std::vector<int> first(9, 0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::vector<Rows> folds = cross_validation_folds(9, 3, static_cast<std::uint64_t>(seed));
    for (const std::int64_t row : folds[0]) ++first[static_cast<std::size_t>(row)];
  }
  for (const int count : first) EXPECT_NEAR(count, kSeeds / 3, 200);  // 5.5 standard deviations
}

TEST(Folds, RefuseImpossibleNumbers) {
  for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{5, 6}, {5, 1}, {5, 0}, {5, -1}, {0, 2}}) {
    expect_invalid(std::to_string(k) + (k == 1 ? " fold of " : " folds of ") + std::to_string(n) +
                       " rows: at least 2 folds are needed, and at most one per row",
                   [rows = n, folds = k] { cross_validation_folds(rows, folds, 0); });
  }
  EXPECT_EQ(cross_validation_folds(5, 5, 0).size(), 5u);
  expect_invalid("2 labels for 3 rows", [] { cross_validation_folds(3, 2, 0, {0, 1}); });
}

TEST(Holdout, TakesTheRoundedFractionButNeitherNoneNorAll) {
  const std::vector<std::tuple<std::int64_t, double, std::size_t>> cases = {
      {2, 0.5, 1},   {2, 0.01, 1},  {2, 0.99, 1},      {10, 0.3, 3},        {10, 0.25, 3},
      {10, 0.24, 2}, {33, 0.5, 17}, {1000, 0.0001, 1}, {1000, 0.9999, 999}, {1001, 0.3, 300}};
  for (const auto& [n, fraction, expected] : cases) {
    const Rows rows = holdout_rows(n, fraction, 3);
    EXPECT_EQ(rows.size(), expected) << fraction << " of " << n;
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end()) << "a row twice";
    EXPECT_GE(rows.front(), 0);
    EXPECT_LT(rows.back(), n);
  }
}

TEST(Holdout, StratifiesByLargestRemainders) {
  // 4 of 10 rows are for the test. The shares of 5, 3, 2 rows are 2.0, 1.2, 0.8: 2, 1, 0, and the row left over goes
  // to 0.8.
  const Codes labels = {0, 0, 0, 0, 0, 1, 1, 1, 2, 2};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto counts = class_counts(holdout_rows(10, 0.4, seed, labels), labels);
    EXPECT_EQ(counts, (std::map<std::int32_t, std::int64_t>{{0, 2}, {1, 1}, {2, 1}}));
  }
  // The remainders are equal, 0.5 each: the lower code comes first, and a missing one before all.
  EXPECT_EQ(class_counts(holdout_rows(2, 0.5, 1, {1, 0}), {1, 0}), (std::map<std::int32_t, std::int64_t>{{0, 1}}));
  EXPECT_EQ(class_counts(holdout_rows(2, 0.5, 1, {0, -1}), {0, -1}), (std::map<std::int32_t, std::int64_t>{{-1, 1}}));
}

TEST(Holdout, KeepsEveryClassWithinOneRowOfItsShare) {
  for (const std::int64_t n : {31, 32, 33, 1000}) {
    const Codes labels = skewed_labels(n, 9, 77);
    for (const double fraction : {0.1, 0.3, 0.5, 0.9}) {
      const Rows rows = holdout_rows(n, fraction, 1, labels);
      EXPECT_EQ(static_cast<std::int64_t>(rows.size()), std::llround(fraction * static_cast<double>(n)));
      const auto taken = class_counts(rows, labels);
      std::map<std::int32_t, std::int64_t> total;
      for (const std::int32_t code : labels) ++total[code];
      for (const auto& [code, count] : total) {
        const double share =
            static_cast<double>(count * static_cast<std::int64_t>(rows.size())) / static_cast<double>(n);
        const std::int64_t got = taken.contains(code) ? taken.at(code) : 0;
        EXPECT_LT(std::abs(static_cast<double>(got) - share), 1.0) << "class " << code;
      }
    }
  }
}

TEST(Holdout, FollowsTheSeed) {
  EXPECT_EQ(holdout_rows(10, 0.3, 42), (Rows{0, 5, 9}));
  EXPECT_EQ(holdout_rows(1000, 0.3, 7), holdout_rows(1000, 0.3, 7));
  EXPECT_NE(holdout_rows(1000, 0.3, 7), holdout_rows(1000, 0.3, 8));
}

TEST(Holdout, RefusesWhatIsNoFraction) {
  for (const double fraction : {0.0, 1.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    expect_error(ErrorCode::invalid_argument, "is not between 0 and 1", [&] { holdout_rows(10, fraction, 0); });
  }
  expect_invalid("hold-out fraction 1.5 is not between 0 and 1", [] { holdout_rows(10, 1.5, 0); });
  expect_invalid("a hold-out split needs at least 2 rows, there are 1", [] { holdout_rows(1, 0.5, 0); });
  expect_invalid("1 labels for 3 rows", [] { holdout_rows(3, 0.5, 0, {0}); });
}

}  // namespace
}  // namespace stope
