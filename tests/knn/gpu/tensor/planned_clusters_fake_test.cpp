// When searches on a GPU put a table into clusters by themselves, and when they take it out again
// (src/knn/gpu/tensor/planned_clusters.hpp), with the fake plug-in: it says that it leaves tiles out in clusters, and
// scans everything. clusters_cuda_test.cpp tests the real plug-in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fault.hpp"
#include "base/random.hpp"
#include "device/with_fake_plugin.hpp"
#include "knn/answers.hpp"
#include "knn/gpu/tensor/tensor_filter_cases.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

// Rows of 20 uniform columns are in no clusters.
constexpr std::int64_t kColumns = 20, kRows = 700, kQueries = 40, kPairs = kRows * kQueries;
constexpr const char *kAll = "filter, products", *kClusters = "filter, products, clusters";

class PlannedClustersFake : public testing::Test, protected WithFakePlugin {
 protected:
  PlannedClustersFake() : WithFakePlugin("filters", "cuda") {}
  ~PlannedClustersFake() override {
    for (const char* name : {"STOPE_CLUSTER_PAIRS", "STOPE_BLOCK_ORDER"}) unsetenv(name);
  }

  Table in_clusters(std::int64_t n) {
    return table_of(fill(n, kColumns, [&](std::size_t r, std::size_t c) {
      Random of_centre(1 + r % 40 * 1000 + c);
      return of_centre.uniform() + 1e-3 * random_.uniform();
    }));
  }
  Table scattered(std::int64_t n) {
    return table_of(fill(n, kColumns, [&](std::size_t, std::size_t) { return random_.uniform(); }));
  }

  struct Found {
    std::string method, why;
    std::int64_t skipped;
  };
  // The lists must be the CPU's whatever the plan is.
  Found search(const KnnIndex& index, const Table& query, const SearchOptions& options = {.n_neighbors = 5}) {
    Neighbors ours;
    const SearchReport report = index.kneighbors(query, options, run_, [&](const Neighbors& block) {
      for (std::int64_t i = 0; i < block.n_queries(); ++i)
        ours.offsets.push_back(ours.offsets.back() + options.n_neighbors);
      ours.indices.insert(ours.indices.end(), block.indices.begin(), block.indices.end());
      ours.distances.insert(ours.distances.end(), block.distances.begin(), block.distances.end());
    });
    unsetenv("STOPE_BACKEND");
    expect_same(ours, index.kneighbors(query, options, {.device = "cpu"}));
    setenv("STOPE_BACKEND", "cuda", 1);
    const std::size_t end = report.method_reason.find("; ");
    return {report.method, end == std::string::npos ? "" : report.method_reason.substr(end + 2), report.skipped};
  }
  static void set_pairs(std::int64_t pairs) { setenv("STOPE_CLUSTER_PAIRS", std::to_string(pairs).c_str(), 1); }

  Random random_{9};
  RunOptions run_ = {.threads = 2, .device = "cuda"};
  Table train_ = in_clusters(kRows), query_ = in_clusters(kQueries);
};

TEST_F(PlannedClustersFake, SearchesPayForALookAndThenForClusters) {
  set_pairs(2 * kPairs);
  const KnnIndex index = KnnIndex::fit(train_, {}, run_);
  const std::vector<Found> expected = {
      {kAll, "all tiles: too few pairs so far to pay for a look at clusters", 0},
      {kAll, "all tiles: rows are in clusters, but too few pairs so far pay for them", 0},
      {kAll, "all tiles: rows are in clusters, but too few pairs so far pay for them", 0},
      {kClusters, "near tiles alone: rows are in clusters", kPairs / 4 * 3},
      {kClusters, "near tiles alone: rows are in clusters", kPairs / 4 * 3},
  };
  for (const Found& wanted : expected) {
    const Found found = search(index, query_);
    EXPECT_EQ(found.method, wanted.method);
    EXPECT_EQ(found.why, wanted.why);
    EXPECT_EQ(found.skipped, wanted.skipped);
  }
}

TEST_F(PlannedClustersFake, OneLargeSearchHasClustersFromItsStart) {
  set_pairs(kPairs / 2);
  const Found found = search(KnnIndex::fit(train_, {}, run_), query_);
  EXPECT_EQ(found.method, kClusters);
  EXPECT_EQ(found.skipped, kPairs / 4 * 3);
}

TEST_F(PlannedClustersFake, WithoutTheSwitchAFewSearchesPayForNothing) {
  const KnnIndex index = KnnIndex::fit(train_, {}, run_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(search(index, query_).why, "all tiles: too few pairs so far to pay for a look at clusters");
  }
}

TEST_F(PlannedClustersFake, ATableWithoutClustersIsScannedWhole) {
  set_pairs(1);
  const KnnIndex index = KnnIndex::fit(scattered(kRows), {}, run_);
  for (int i = 0; i < 3; ++i) {
    const Found found = search(index, scattered(kQueries));
    EXPECT_EQ(found.method, kAll);
    EXPECT_EQ(found.why, "all tiles: a sample has no clusters");
  }
}

TEST_F(PlannedClustersFake, ClustersThatLeaveNothingOutGoForGood) {
  setenv("STOPE_FAKE", "useless clusters", 1);
  set_pairs(kPairs / 2);
  const KnnIndex index = KnnIndex::fit(train_, {}, run_);
  EXPECT_EQ(search(index, query_).method, kClusters);
  setenv("STOPE_FAKE", "filters", 1);
  for (int i = 0; i < 3; ++i) {
    const Found found = search(index, query_);
    EXPECT_EQ(found.method, kAll);
    EXPECT_EQ(found.why, "all tiles: clusters left out less than a third of the pairs");
    EXPECT_EQ(found.skipped, 0);
  }
}

// Blocks of twenty queries: the first ones show it.
TEST_F(PlannedClustersFake, ALongSearchLosesUselessClustersOnItsWay) {
  setenv("STOPE_FAKE", "useless clusters", 1);
  setenv("STOPE_TILE_QUERIES", "20", 1);
  set_pairs(20 * kRows);
  const Found found = search(KnnIndex::fit(train_, {}, run_), in_clusters(200));
  EXPECT_EQ(found.method, kAll);
  EXPECT_EQ(found.why, "all tiles: clusters left out less than a third of the pairs");
}

TEST_F(PlannedClustersFake, TheEnvironmentForbidsAndForces) {
  set_pairs(1);
  const KnnIndex index = KnnIndex::fit(train_, {}, run_), other = KnnIndex::fit(scattered(kRows), {}, run_);
  setenv("STOPE_BLOCK_ORDER", "table", 1);
  EXPECT_EQ(search(index, query_).method, kAll);
  EXPECT_EQ(search(index, query_).why, "all tiles: STOPE_BLOCK_ORDER=table");
  setenv("STOPE_BLOCK_ORDER", "near", 1);
  EXPECT_EQ(search(other, query_).method, kClusters);
  EXPECT_EQ(search(other, query_).why, "near tiles alone: STOPE_BLOCK_ORDER=near");
  unsetenv("STOPE_BLOCK_ORDER");
  EXPECT_EQ(search(index, query_).method, kClusters);
  EXPECT_EQ(search(other, query_).method, kAll) << "the plan sees no clusters in it";
  setenv("STOPE_BLOCK_ORDER", "table", 1);
  const Found forbidden = search(index, query_);
  EXPECT_EQ(forbidden.method, kAll);
  EXPECT_EQ(forbidden.skipped, 0);
  unsetenv("STOPE_BLOCK_ORDER");
  EXPECT_EQ(search(index, query_).method, kClusters);
}

TEST_F(PlannedClustersFake, AGpuThatMakesNoClustersIsAskedOnce) {
  setenv("STOPE_FAKE", "no clusters", 1);
  set_pairs(1);
  const KnnIndex index = KnnIndex::fit(train_, {}, run_);
  for (int i = 0; i < 2; ++i) {
    const Found found = search(index, query_);
    EXPECT_EQ(found.method, kAll);
    EXPECT_EQ(found.why, "all tiles: the GPU has no room for clusters, or no scan that uses them");
    setenv("STOPE_FAKE", "filters", 1);
  }
}

TEST_F(PlannedClustersFake, SearchesThatLeaveNothingOutPayNothing) {
  set_pairs(kPairs / 2);
  const KnnIndex index = KnnIndex::fit(train_, {}, run_);
  const Found many = search(index, query_, {.n_neighbors = 25});
  EXPECT_EQ(many.method, kAll);
  EXPECT_EQ(many.why, "");
  EXPECT_EQ(search(index, train_, {.n_neighbors = 24, .exclude_self = true}).why, "")
      << "the row itself is listed, too";
  for (int i = 0; i < 9; ++i) EXPECT_EQ(search(index, in_clusters(16)).why, "") << "few queries have another scan";
  KnnOptions heaps;
  heaps.compat = Compat::rapidminer;
  const KnnIndex other = KnnIndex::fit(train_, heaps, run_);
  EXPECT_EQ(search(other, query_).why, "");
  EXPECT_EQ(search(index, query_, {.n_neighbors = 24}).method, kClusters);
  EXPECT_EQ(search(index, query_, {.n_neighbors = 25}).skipped, 0);
  EXPECT_EQ(search(index, query_, {.n_neighbors = 25}).method, kAll);
}

TEST_F(PlannedClustersFake, MissingValuesHaveNoClusters) {
  set_pairs(1);
  Table train = train_;
  std::vector<double> values(static_cast<std::size_t>(kRows), 1.0);
  values[3] = std::numeric_limits<double>::quiet_NaN();
  train.columns[2] = make_numeric(train.columns[2].name, values);
  const Found found = search(KnnIndex::fit(train, {}, run_), query_);
  EXPECT_EQ(found.method, kAll);
  EXPECT_EQ(found.why, "");
}

TEST_F(PlannedClustersFake, NoMemoryForClustersIsNoError) {
  set_pairs(1);
  std::vector<std::string> methods;
  for (std::int64_t n = 1; n < 40 && (methods.empty() || methods.back() != kClusters); ++n) {
    SCOPED_TRACE(n);
    const KnnIndex index = KnnIndex::fit(train_, {}, run_);
    fault::arm_alloc(n);
    try {
      const SearchReport report = index.kneighbors(query_, {.n_neighbors = 5}, run_, [](const Neighbors&) {});
      methods.push_back(report.method);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      methods.push_back(error.what());
    }
    fault::arm_alloc(0);
  }
  EXPECT_EQ(std::count(methods.begin(), methods.end(), kAll), 1);
  EXPECT_EQ(methods.back(), kClusters);
}

// The limit has room for the filter alone. Then the look waits for twice what searches have paid.
TEST_F(PlannedClustersFake, AMemoryLimitPutsClustersOff) {
  set_pairs(1);
  const KnnIndex index = KnnIndex::fit(train_, {}, run_);
  run_.memory_limit = 300'000;
  const Found limited = search(index, query_);
  EXPECT_EQ(limited.method, kAll);
  EXPECT_EQ(limited.why, "all tiles: no room for clusters so far");
  run_.memory_limit = 0;
  EXPECT_EQ(search(index, query_).method, kClusters);
}

// The limit counts the filter, its clusters and what a GPU votes with.
TEST_F(PlannedClustersFake, VotesBesideClustersKeepToTheMemoryLimit) {
  set_pairs(1);
  std::vector<double> classes(static_cast<std::size_t>(kRows));
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<double>(i % 3);
  // The least limit with which the GPU votes; clusters of a search without a limit stay.
  const auto least_limit = [&](const char* order, const char* method) {
    setenv("STOPE_BLOCK_ORDER", order, 1);
    const KnnIndex index = KnnIndex::fit(train_, {}, run_);
    const KnnRegressor model = KnnRegressor::fit(index, make_numeric("y", classes));
    std::int64_t below = 0, enough = std::int64_t{1} << 30;
    while (enough - below > 1) {
      RunOptions run = run_;
      EXPECT_EQ(search(index, query_).method, std::string(order) == "near" ? kClusters : kAll);
      run.memory_limit = below + (enough - below) / 2;
      const SearchReport report = model.predict(query_, {.n_neighbors = 5}, run, [](const auto&...) {});
      (report.method == method ? enough : below) = run.memory_limit;
    }
    return enough;
  };
  const std::int64_t alone = least_limit("table", "filter, products, votes");
  EXPECT_GE(least_limit("near", "filter, products, clusters, votes") - alone, kRows * 2 * kColumns);
}

// A larger search replaces the filter. The new one is in clusters, too, and so is the table on every GPU.
TEST_F(PlannedClustersFake, ANewFilterAndOtherGpusHaveTheClusters) {
  set_pairs(1);
  const Table query = in_clusters(60);
  for (const char* device : {"cuda:1", "cuda:1,1,1"}) {
    run_.device = device;
    const KnnIndex index = KnnIndex::fit(in_clusters(200), {}, run_);
    EXPECT_EQ(search(index, query).method, kClusters);
    EXPECT_EQ(search(index, in_clusters(9000)).method, kClusters);
    const Found found = search(index, query);
    EXPECT_EQ(found.method, kClusters);
    EXPECT_GT(found.skipped, 200 * 60 / 2);
  }
}

TEST_F(PlannedClustersFake, ClustersComeAndGoWhileOtherThreadsSearch) {
  setenv("STOPE_TILE_QUERIES", "20", 1);
  for (const char* role : {"filters", "useless clusters"}) {
    setenv("STOPE_FAKE", role, 1);
    set_pairs(3 * kPairs);
    const KnnIndex index = KnnIndex::fit(train_, {}, run_);
    std::vector<Neighbors> ours(6);
    {
      std::vector<std::jthread> threads;
      for (Neighbors& mine : ours) {
        threads.emplace_back([&] {
          for (int i = 0; i < 4; ++i) mine = index.kneighbors(query_, {.n_neighbors = 5}, run_);
        });
      }
    }
    unsetenv("STOPE_BACKEND");
    const Neighbors theirs = index.kneighbors(query_, {.n_neighbors = 5}, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    for (const Neighbors& mine : ours) expect_same(mine, theirs);
    EXPECT_EQ(search(index, query_).method, std::string(role) == "filters" ? kClusters : kAll);
  }
}

}  // namespace
}  // namespace stope
