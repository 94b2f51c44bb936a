// Searches of few queries remember what they have cost without an order of near rows, and make one when another such
// search would have repaid it. No list changes with that, whatever the threads.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "knn/answers.hpp"
#include "knn/filter/filter_cases.hpp"
#include "knn/search/order_cost.hpp"
#include "oracle/random_table.hpp"

namespace stope {
namespace {

using oracle::TableShape;

constexpr std::int64_t kMostSearches = 2000;  // many times what any instruction set needs

Table uniform(std::int64_t n_rows, int n_columns, std::uint64_t seed) {
  Random random(seed);
  return oracle::random_table(random, {.n_rows = n_rows, .n_numeric = n_columns});
}

RunOptions on_cpu(int threads) {
  RunOptions run;
  run.device = "cpu";
  run.threads = threads;
  return run;
}

// One search with its report.
Neighbors search(const KnnIndex& index, const Table& query, std::int64_t k, const RunOptions& run,
                 SearchReport* report) {
  Neighbors found;
  *report = index.kneighbors(query, {.n_neighbors = k}, run, [&](const Neighbors& block) { found = block; });
  return found;
}

Neighbors the_references(const KnnIndex& index, const Table& query, std::int64_t k) {
  const Forced forced("reference", "", "", 128, 0);
  return index.kneighbors(query, {.n_neighbors = k}, on_cpu(1));
}

// The nearest rows of `k` for each row of `queries`, one search a row, until rows stand in an order. Returns how many
// searches went without one.
std::int64_t searches_without_an_order(const Table& train, const Table& queries, std::int64_t k) {
  const KnnIndex index = KnnIndex::fit(train, {.metric = {"euclidean"}}, on_cpu(2));
  for (std::int64_t i = 0; i < kMostSearches; ++i) {
    const Table query = queries.take({i % queries.n_rows});
    SearchReport report;
    const Neighbors ours = search(index, query, k, on_cpu(2), &report);
    if (i % 16 == 0) expect_same(ours, the_references(index, query, k));
    if (report.method.find("blocks") == std::string::npos) {
      EXPECT_EQ(report.evaluated, train.n_rows) << report.method;
      continue;
    }
    EXPECT_NE(report.method_reason.find("earlier searches have cost as much"), std::string::npos)
        << report.method_reason;
    expect_same(ours, the_references(index, query, k));
    return i;
  }
  return kMostSearches;
}

TEST(RememberedScans, AnOrderComesWhenSearchesHaveCostAsMuch) {
  const std::int64_t n = searches_without_an_order(uniform(60'000, 2, 1), uniform(50, 2, 2), 7);
  EXPECT_GT(n, 3) << "one query alone does not repay an order";
  EXPECT_LT(n, 500);
}

TEST(RememberedScans, AfterwardsAQueryLooksAtFewRowsOnOneThread) {
  const KnnIndex index = KnnIndex::fit(uniform(60'000, 3, 3), {.metric = {"euclidean"}}, on_cpu(8));
  const Table queries = uniform(40, 3, 4);
  SearchReport report;
  for (std::int64_t i = 0; i < kMostSearches && report.method.find("blocks") == std::string::npos; ++i) {
    search(index, queries.take({0}), 5, on_cpu(8), &report);
  }
  for (std::int64_t i = 0; i < queries.n_rows; ++i) {
    const Table query = queries.take({i});
    expect_same(search(index, query, 5, on_cpu(8), &report), the_references(index, query, 5));
    EXPECT_LT(report.evaluated, 1'000);
    EXPECT_EQ(report.threads, 1);
  }
}

// A search of many queries repays an order by itself, however few came before.
TEST(RememberedScans, ManyQueriesMakeTheOrderAtOnce) {
  const KnnIndex index = KnnIndex::fit(uniform(60'000, 2, 5), {.metric = {"euclidean"}}, on_cpu(2));
  SearchReport report;
  search(index, uniform(20'000, 2, 6), 3, on_cpu(2), &report);
  EXPECT_NE(report.method.find("blocks"), std::string::npos) << report.method;
  EXPECT_EQ(report.method_reason.find("earlier searches"), std::string::npos) << report.method_reason;
  const Table query = uniform(1, 2, 10);
  expect_same(search(index, query, 3, on_cpu(2), &report), the_references(index, query, 3));
  EXPECT_LT(report.evaluated, 1'000) << "one query uses the order that is there";
}

TEST(RememberedScans, SeveralThreadsAtOnceGetTheSameLists) {
  const KnnIndex index = KnnIndex::fit(uniform(30'000, 3, 7), {.metric = {"euclidean"}}, on_cpu(2));
  const Table queries = uniform(24, 3, 8);
  std::vector<Neighbors> expected;
  for (std::int64_t i = 0; i < queries.n_rows; ++i) expected.push_back(the_references(index, queries.take({i}), 6));
  constexpr int kThreads = 4, kRounds = 20;
  std::atomic<int> in_blocks = 0, wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < kRounds * queries.n_rows; ++i) {
        const std::int64_t which = (i * 7 + t) % queries.n_rows;
        SearchReport report;
        const Neighbors ours = search(index, queries.take({which}), 6, on_cpu(2), &report);
        const Neighbors& theirs = expected[static_cast<std::size_t>(which)];
        if (report.method.find("blocks") != std::string::npos) ++in_blocks;
        if (ours.indices != theirs.indices || !same_bits(ours.distances, theirs.distances)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(in_blocks, 0) << "the order was made meanwhile";
}

// Rows that are all equal have no boxes that exclude anything.
TEST(RememberedScans, TablesThatBoxesDoNotHelpGetTheReferencesAnswer) {
  Random random(9);
  const Table train =
      oracle::random_table(random, {.n_rows = 20'000, .n_numeric = 2, .values = TableShape::Values::few});
  const KnnIndex index = KnnIndex::fit(train, {.metric = {"euclidean"}}, on_cpu(2));
  const Table query = train.take({5});
  const Neighbors theirs = the_references(index, query, 9);
  for (int i = 0; i < 300; ++i) {
    SearchReport report;
    expect_same(search(index, query, 9, on_cpu(2), &report), theirs);
  }
}

TEST(OrderCost, GrowsWithRowsColumnsAndQueries) {
  using knn::order_cost;
  constexpr auto kBackend = device::Backend::avx512;
  const knn::OrderCost one = order_cost(100'000, 3, 1, false, kBackend),
                       more = order_cost(200'000, 3, 1, false, kBackend);
  EXPECT_LT(one.scan, more.scan);
  EXPECT_LT(one.order, more.order);
  EXPECT_LT(one.order, order_cost(100'000, 4, 1, false, kBackend).order);
  EXPECT_LT(order_cost(100'000, 3, 100, true, kBackend).scan, order_cost(100'000, 3, 100, false, kBackend).scan);
  EXPECT_LT(one.scan, one.order);
  const knn::OrderCost many = order_cost(100'000, 3, 100'000, false, kBackend);
  EXPECT_GT(many.scan, many.order + many.through);
  EXPECT_GT(order_cost(100'000, 3, 1, false, device::Backend::scalar).order, one.order);
}

}  // namespace
}  // namespace stope
