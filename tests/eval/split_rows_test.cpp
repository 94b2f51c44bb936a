#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/split.hpp"
#include "stope/table.hpp"

namespace stope {
namespace {

using Rows = std::vector<std::int64_t>;

void expect_each_row_once(const std::vector<Rows>& parts, std::int64_t n_rows) {
  std::vector<int> seen(static_cast<std::size_t>(n_rows), 0);
  for (const Rows& part : parts) {
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
    EXPECT_FALSE(part.empty());
    for (const std::int64_t row : part) ++seen.at(static_cast<std::size_t>(row));
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
}

TEST(SplitRows, TwoPartsAreAHoldout) {
  std::mt19937 random(1);
  std::vector<std::int32_t> labels(97);
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random() % 4) - 1;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(split_rows(97, {3, 1}, seed).at(1), holdout_rows(97, 0.25, seed));
    EXPECT_EQ(split_rows(97, {0.75, 0.25}, seed, labels).at(1), holdout_rows(97, 0.25, seed, labels));
  }
}

TEST(SplitRows, PartsHaveTheirSharesOfRowsAndOfClasses) {
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    const auto n = static_cast<std::int64_t>(50 + random() % 200);
    const std::vector<double> shares = {6, 2, 1, 1};
    std::vector<std::int32_t> labels(static_cast<std::size_t>(n));
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random() % 3);
    const std::vector<Rows> parts = split_rows(n, shares, static_cast<std::uint64_t>(round), labels);
    expect_each_row_once(parts, n);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      EXPECT_NEAR(static_cast<double>(parts[p].size()), shares[p] / 10 * static_cast<double>(n), 2.0);
      for (std::int32_t code = 0; code < 3; ++code) {
        const auto all = static_cast<double>(std::count(labels.begin(), labels.end(), code));
        const auto here = std::count_if(parts[p].begin(), parts[p].end(), [&](std::int64_t row) {
          return labels[static_cast<std::size_t>(row)] == code;
        });
        EXPECT_NEAR(static_cast<double>(here), shares[p] / 10 * all, 3.0);
      }
    }
  }
}

TEST(SplitGroups, KeepsGroupsTogetherAndComesNearTheShares) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::int32_t> groups(300);
    for (std::int32_t& group : groups) group = static_cast<std::int32_t>(random() % 40) - 1;
    const std::vector<Rows> parts = split_groups(groups, {2, 1, 1}, static_cast<std::uint64_t>(round));
    expect_each_row_once(parts, 300);
    std::map<std::int32_t, std::size_t> part_of;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      for (const std::int64_t row : parts[p]) {
        const std::int32_t group = groups[static_cast<std::size_t>(row)];
        if (group != kMissingCode) {
          EXPECT_EQ(part_of.emplace(group, p).first->second, p);
        }
      }
    }
    EXPECT_NEAR(static_cast<double>(parts[0].size()), 150.0, 8.0);
  }
  EXPECT_NE(split_groups({0, 1, 2, 3, 4, 5, 6, 7}, {1, 1}, 0), split_groups({0, 1, 2, 3, 4, 5, 6, 7}, {1, 1}, 1));
}

TEST(SplitGroups, LeavesNoPartEmpty) {
  std::vector<std::int32_t> groups(100, 0);
  std::fill(groups.begin() + 50, groups.end(), 1);
  expect_each_row_once(split_groups(groups, {99, 1}, 0), 100);
}

TEST(SplitRows, RefusesWhatCannotBeSplit) {
  const auto refused = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused([] { split_rows(10, {1}, 0); }));
  EXPECT_TRUE(refused([] { split_rows(10, {1, 0}, 0); }));
  EXPECT_TRUE(refused([] { split_rows(10, {1, -1}, 0); }));
  EXPECT_TRUE(refused([] { split_rows(2, {1, 1, 1}, 0); }));
  EXPECT_TRUE(refused([] { split_rows(3, {1, 1, 1000}, 0); }));
  EXPECT_TRUE(refused([] { split_rows(10, {1, 1}, 0, {1, 2}); }));
  EXPECT_TRUE(refused([] { split_groups({0, 0, 0}, {1, 1}, 0); }));
}

}  // namespace
}  // namespace stope
