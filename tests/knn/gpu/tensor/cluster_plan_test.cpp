// Tests when a table gets clusters and loses them (src/knn/gpu/tensor/cluster_plan.hpp).
#include "knn/gpu/tensor/cluster_plan.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace stope::knn {
namespace {

using Step = ClusterPlan::Step;

constexpr ClusterPrices kPrices{.look = 100, .make = 300, .judge = 50};

ClusterPlan plan_after(std::int64_t n_pairs) {
  ClusterPlan plan(kPrices);
  plan.count(n_pairs);
  return plan;
}

ClusterPlan plan_in_clusters() {
  ClusterPlan plan = plan_after(300);
  plan.looked(true);
  plan.tried(true);
  return plan;
}

TEST(PlanOfClusters, SearchesPayForALookAndThenForClusters) {
  ClusterPlan plan = plan_after(60);
  EXPECT_EQ(plan.next(), Step::search);
  plan.count(39);
  EXPECT_EQ(plan.next(), Step::search);
  plan.count(1);
  ASSERT_EQ(plan.next(), Step::look);
  plan.looked(true);
  EXPECT_EQ(plan.next(), Step::search) << "clusters cost more than a look";
  EXPECT_FALSE(plan.in_clusters());
  plan.count(200);
  ASSERT_EQ(plan.next(), Step::make);
  plan.tried(true);
  EXPECT_EQ(plan.next(), Step::search);
  EXPECT_TRUE(plan.in_clusters());
}

TEST(PlanOfClusters, OneLargeSearchPaysForBothBeforeItBegins) {
  ClusterPlan plan = plan_after(300);
  ASSERT_EQ(plan.next(), Step::look);
  plan.looked(true);
  EXPECT_EQ(plan.next(), Step::make);
}

TEST(PlanOfClusters, ATableWithoutClustersIsSeenOnce) {
  ClusterPlan plan = plan_after(100);
  plan.looked(false);
  plan.count(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(plan.next(), Step::search);
  EXPECT_FALSE(plan.in_clusters());
}

TEST(PlanOfClusters, WhatTheGpuCannotMakeIsNotTriedAgain) {
  ClusterPlan plan = plan_after(300);
  plan.looked(true);
  plan.tried(false);
  plan.count(1'000'000);
  EXPECT_EQ(plan.next(), Step::search);
  EXPECT_FALSE(plan.in_clusters());
}

TEST(PlanOfClusters, EachStepThatIsPutOffDoublesItsPrice) {
  ClusterPlan plan = plan_after(150);
  plan.put_off();
  EXPECT_EQ(plan.next(), Step::search);
  plan.count(149);
  EXPECT_EQ(plan.next(), Step::search);
  plan.count(1);
  ASSERT_EQ(plan.next(), Step::look);
  plan.looked(true);
  ASSERT_EQ(plan.next(), Step::make);
  plan.put_off();
  plan.count(299);
  EXPECT_EQ(plan.next(), Step::search);
  plan.count(1);
  EXPECT_EQ(plan.next(), Step::make);
}

TEST(PlanOfClusters, ClustersStayWhereTheyLeaveOutAThird) {
  ClusterPlan plan = plan_in_clusters();
  EXPECT_TRUE(plan.pays(200, 100));
  EXPECT_TRUE(plan.pays(10, 990));
  EXPECT_TRUE(plan.in_clusters());
}

TEST(PlanOfClusters, ClustersThatLeaveOutTooLittleGoForGood) {
  ClusterPlan plan = plan_in_clusters();
  EXPECT_TRUE(plan.pays(49, 0)) << "too few pairs to judge by";
  EXPECT_FALSE(plan.pays(201, 99));
  EXPECT_FALSE(plan.in_clusters());
  plan.count(1'000'000);
  EXPECT_EQ(plan.next(), Step::search);
  EXPECT_FALSE(plan.pays(0, 1'000'000));
}

TEST(PlanOfClusters, EveryStateHasItsReason) {
  ClusterPlan plan(kPrices);
  EXPECT_EQ(plan.reason(), "all tiles: too few pairs so far to pay for a look at clusters");
  plan.looked(true);
  EXPECT_EQ(plan.reason(), "all tiles: rows are in clusters, but too few pairs so far pay for them");
  plan.tried(true);
  EXPECT_EQ(plan.reason(), "near tiles alone: rows are in clusters");
  plan.pays(1000, 0);
  EXPECT_EQ(plan.reason(), "all tiles: clusters left out less than a third of the pairs");
  plan.looked(false);
  EXPECT_EQ(plan.reason(), "all tiles: a sample has no clusters");
  plan.tried(false);
  EXPECT_EQ(plan.reason(), "all tiles: the GPU has no room for clusters, or no scan that uses them");
}

// Sums of pairs stay within 64 bits.
TEST(PlanOfClusters, AnyNumberOfPairsCanBeCounted) {
  ClusterPlan plan(cluster_prices(std::int64_t{1} << 31, 128));
  for (int i = 0; i < 2; ++i) plan.count(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(plan.next(), Step::look);
  for (int i = 0; i < 70; ++i) plan.put_off();
  plan.count(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(plan.next(), Step::look);
}

// 1M queries over 1M rows x 128 pay for clusters; the first tenth of them does not. Larger tables cost more to put into
// clusters, and no more to look at.
TEST(PlanOfClusters, PricesGrowWithTheTable) {
  constexpr std::int64_t kMillion = 1'000'000;
  const ClusterPrices usual = cluster_prices(kMillion, 128), large = cluster_prices(100 * kMillion, 128);
  EXPECT_LE(usual.look, kMillion * kMillion);
  EXPECT_LE(usual.make, kMillion * kMillion);
  EXPECT_GT(usual.look, kMillion * kMillion / 10);
  EXPECT_GT(usual.make, kMillion * kMillion / 10);
  EXPECT_EQ(large.look, usual.look);
  EXPECT_GT(large.make, 50 * usual.make);
  EXPECT_EQ(usual.judge, 4096 * kMillion);
  // In narrow images a pair costs less, so that a search of as many pairs pays less.
  EXPECT_GT(cluster_prices(kMillion, 32).look, usual.look);
  EXPECT_GT(cluster_prices(0, 0).make, 0);
}

}  // namespace
}  // namespace stope::knn
