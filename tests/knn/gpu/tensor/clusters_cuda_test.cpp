// Compares searches that leave tiles out with the CPU, bit for bit: tables in clusters and tables that are not, put
// into clusters all the same; tables that aim at the bounds; searches that scan everything although the table has
// clusters; and searches that plan their clusters by themselves. Skipped where there is no Hopper.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "knn/gpu/tensor/tensor_filter_cases.hpp"
#include "stope/device.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

class ClustersCuda : public NeedsGpu {
 protected:
  void SetUp() override {
    NeedsGpu::SetUp();
    if (IsSkipped()) return;
    if (device_info().gpus.front().arch != "sm_90") GTEST_SKIP() << "no scan that leaves tiles out";
    setenv("STOPE_BACKEND", "cuda", 1);
    setenv("STOPE_BLOCK_ORDER", "near", 1);
  }
  ~ClustersCuda() override {
    for (const char* name : {"STOPE_BACKEND", "STOPE_BLOCK_ORDER", "STOPE_TILE_QUERIES", "STOPE_CLUSTER_PAIRS"}) {
      unsetenv(name);
    }
  }

  /// Rows near one of n_centres centres; every `far`-th row lies anywhere (0: none).
  Table clusters(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_centres, double spread, std::int64_t far) {
    Random centre_random(77);
    Columns centres = fill(n_centres, n_columns, [&](std::size_t, std::size_t) { return centre_random.uniform(); });
    std::vector<std::size_t> own(static_cast<std::size_t>(n_rows));
    for (std::size_t& centre : own) centre = random_.below(static_cast<std::uint64_t>(n_centres));
    return table_of(fill(n_rows, n_columns, [&](std::size_t r, std::size_t c) {
      if (far > 0 && static_cast<std::int64_t>(r) % far == 0) return random_.uniform();
      return centres[c][own[r]] + spread * (random_.uniform() - 0.5);
    }));
  }

  Random random_{1};
};

constexpr const char* kInClusters = "filter, products, clusters";

TEST_F(ClustersCuda, SizesThatStraddleTilesAndBlocks) {
  const std::vector<std::int64_t> rows = {129, 300, 1000, 4097, 20000};
  const std::vector<std::int64_t> queries = {17, 64, 255, 256, 257, 600};
  const std::vector<std::int64_t> columns = {7, 20, 29, 30, 32, 61, 62, 64, 80, 93, 94, 96, 100, 125, 126, 128};
  const std::vector<std::int64_t> neighbors = {1, 2, 10, 23, 24};
  for (int round = 0; round < repeated(400, 40); ++round) {
    const std::int64_t n = rows[random_.below(rows.size())], m = queries[random_.below(queries.size())];
    const std::int64_t d = columns[random_.below(columns.size())], k = neighbors[random_.below(neighbors.size())];
    const double spread = std::vector<double>{1e-3, 0.02, 0.2, 2.0}[random_.below(4)];
    const std::int64_t n_centres = std::vector<std::int64_t>{1, 5, 50, 400}[random_.below(4)];
    const std::int64_t far = std::vector<std::int64_t>{0, 3, 100}[random_.below(3)];
    SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(m) + " x " + std::to_string(d) + ", k " +
                 std::to_string(k) + ", " + std::to_string(n_centres) + " centres, spread " + std::to_string(spread));
    const Table train = clusters(n, d, n_centres, spread, far), query = clusters(m, d, n_centres, spread, far);
    EXPECT_EQ(expect_the_processors_answer(train, query, k).method, kInClusters);
    if (round % 4 == 0 && n <= 4097 && k < 24) {
      EXPECT_EQ(expect_the_processors_answer(train, train, k, {}, true).method, kInClusters);
    }
    if (HasFailure()) return;
  }
}

TEST_F(ClustersCuda, TablesThatAimAtTheBound) {
  const std::int64_t n = 9000, d = 20;
  const auto uniform = [&] { return random_.uniform(); };
  const std::vector<std::pair<const char*, Columns>> tables = {
      {"offset", fill(n, d, [&](std::size_t r, std::size_t) { return 1e6 + static_cast<double>(r % 7) + uniform(); })},
      {"one huge column", fill(n, d, [&](std::size_t, std::size_t c) { return (c == 3 ? 1e9 : 1.0) * uniform(); })},
      {"sorted", fill(n, d, [&](std::size_t r, std::size_t) { return static_cast<double>(r / 1000) + uniform(); })},
      {"far rows", fill(n, d, [&](std::size_t r, std::size_t) { return (r % 3001 == 5 ? 1e7 : 1.0) * uniform(); })},
      {"rows that no half holds",
       fill(n, d, [&](std::size_t r, std::size_t) { return (r % 4001 == 5 ? 1e300 : 1.0) * uniform(); })},
      {"heavy tails", fill(n, d, [&](std::size_t, std::size_t) { return std::tan((uniform() - 0.5) * 3.14159); })},
      {"near ties", fill(n, d,
                         [&](std::size_t, std::size_t) {
                           return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.5) + random_.below(3));
                         })},
      {"nearer than halves",
       fill(n, d, [&](std::size_t r, std::size_t) { return (r % 2 == 0 ? 1.0 : -1.0) + 1e-5 * uniform(); })},
      {"whole numbers", fill(n, d, [&](std::size_t, std::size_t) { return static_cast<double>(random_.below(3)); })},
      {"constant", fill(n, d, [&](std::size_t, std::size_t) { return 3.0; })},
      {"equal rows", fill(n, d, [&](std::size_t r, std::size_t c) { return static_cast<double>(r % 5 + c); })},
      {"spheres",
       fill(n, d, [&](std::size_t r, std::size_t c) { return static_cast<double>(r % 50 == c ? 1 + r % 2 : 0); })},
  };
  for (const auto& [name, values] : tables) {
    const Table train = table_of(values);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < 200; ++i) rows.push_back(i * 37 % n);
    for (const std::int64_t k : {1, 10, 24}) {
      for (const char* metric : {"euclidean", "sqeuclidean", "mixed-euclidean"}) {
        SCOPED_TRACE(std::string(name) + ", " + metric + ", k " + std::to_string(k));
        KnnOptions options;
        options.metric.name = metric;
        EXPECT_EQ(expect_the_processors_answer(train, train.take(rows), k, options).method, kInClusters);
        options.feature_weights.assign(static_cast<std::size_t>(d), 1.0);
        for (std::size_t c = 0; c < options.feature_weights.size(); ++c)
          options.feature_weights[c] = 0.25 + 3.0 * uniform();
        expect_the_processors_answer(train, train.take(rows), k, options);
        if (HasFailure()) return;
      }
    }
    if (HasFailure()) return;
  }
}

// Spreads such that halves tell the rows of a cluster apart.
TEST_F(ClustersCuda, MostTilesAreLeftOut) {
  for (const std::int64_t d : {32, 50, 128}) {
    SCOPED_TRACE(d);
    const Table train = clusters(100000, d, 100, 0.2, 0), query = clusters(2000, d, 100, 0.2, 0);
    for (const std::int64_t k : {1, 10, 24}) {
      const SearchReport report = expect_the_processors_answer(train, query, k);
      EXPECT_EQ(report.method, kInClusters);
      EXPECT_EQ(report.uncertified, 0);
      EXPECT_EQ(report.scanned + report.skipped, 100000 * 2000);
      EXPECT_GT(report.skipped, report.scanned);
      if (HasFailure()) return;
    }
  }
}

// Where halves do not tell rows apart, or queries lie in no cluster, as many queries have no proof as with all tiles.
TEST_F(ClustersCuda, NoMoreQueriesStayWithoutAProof) {
  const auto uniform = [&](std::size_t, std::size_t) { return random_.uniform(); };
  for (const double spread : {0.02, 0.2}) {
    const Table train = clusters(100000, 32, 100, spread, 0);
    for (const Table& query : {clusters(1000, 32, 100, spread, 0), table_of(fill(1000, 32, uniform))}) {
      for (const std::int64_t k : {1, 10, 24}) {
        SCOPED_TRACE("spread " + std::to_string(spread) + ", k " + std::to_string(k));
        setenv("STOPE_BLOCK_ORDER", "table", 1);
        const SearchReport all = expect_the_processors_answer(train, query, k);
        EXPECT_EQ(all.method, "filter, products");
        setenv("STOPE_BLOCK_ORDER", "near", 1);
        // Groups have other rows in them, so that a few queries may differ.
        EXPECT_LE(expect_the_processors_answer(train, query, k).uncertified, all.uncertified * 5 / 4 + 5);
      }
    }
  }
}

// The same images serve searches that leave nothing out: heaps, and many neighbours.
TEST_F(ClustersCuda, OtherSearchesOfATableInClusters) {
  const Table train = clusters(5000, 33, 20, 0.05, 50), query = clusters(300, 33, 20, 0.05, 50);
  KnnOptions heaps;
  heaps.compat = Compat::rapidminer;
  expect_the_processors_answer(train, query, 7, heaps);
  for (const std::int64_t k : {24, 25, 128, 1000}) expect_the_processors_answer(train, query, k);
  expect_the_processors_answer(train, query.take({1, 2, 3}), 5);
  expect_the_processors_answer(train, train, 24, {}, true);
}

// Starts that stand apart are shifted again for longer queries, also those in the clusters' order.
TEST_F(ClustersCuda, BatchesOfShortAndLongQueries) {
  setenv("STOPE_TILE_QUERIES", "256", 1);
  for (const std::int64_t d : {29, 30, 31, 32, 62, 94, 126}) {
    const Table train = clusters(3000, d, 10, 0.05, 0);
    const Table query = table_of(fill(1300, d, [&](std::size_t r, std::size_t) {
      constexpr double kLengths[] = {1.0, 0.01, 20.0, 20.0, 0.5, 3.0};
      return kLengths[r / 256] * (random_.uniform() - 0.5);
    }));
    SCOPED_TRACE(std::to_string(d) + " columns");
    expect_the_processors_answer(train, query, 10);
    if (HasFailure()) return;
  }
}

TEST_F(ClustersCuda, NothingIsLeftOutWhereItIsForbiddenOrSearchesAreFew) {
  const Table train = clusters(20000, 32, 100, 0.2, 0), query = clusters(300, 32, 100, 0.2, 0);
  for (const char* order : {"table", ""}) {
    setenv("STOPE_BLOCK_ORDER", order, 1);
    const SearchReport report = expect_the_processors_answer(train, query, 10);
    EXPECT_EQ(report.method, "filter, products");
    EXPECT_EQ(report.skipped, 0);
  }
}

constexpr const char* kWhole = "filter, products";

TEST_F(ClustersCuda, ThePlanMakesClustersWhereASampleHasThem) {
  unsetenv("STOPE_BLOCK_ORDER");
  setenv("STOPE_CLUSTER_PAIRS", "1000", 1);
  for (const std::int64_t d : {20, 32, 50, 100, 128}) {
    SCOPED_TRACE(d);
    const Table train = clusters(30000, d, 100, 0.2, 0);
    const SearchReport near = expect_the_processors_answer(train, clusters(700, d, 100, 0.2, 0), 10);
    EXPECT_EQ(near.method, kInClusters);
    EXPECT_GT(near.skipped, near.scanned);
    const auto uniform = [&](std::size_t, std::size_t) { return random_.uniform(); };
    const SearchReport whole =
        expect_the_processors_answer(table_of(fill(30000, d, uniform)), table_of(fill(700, d, uniform)), 10);
    EXPECT_EQ(whole.method, kWhole);
    EXPECT_EQ(whole.skipped, 0);
    if (HasFailure()) return;
  }
}

// The same searches of one table before its clusters, in them, and after them: blocks of queries in no cluster need
// every tile, so that the plan gives up.
TEST_F(ClustersCuda, ThePlanTakesATableIntoClustersAndOutAgain) {
  unsetenv("STOPE_BLOCK_ORDER");
  const Table train = clusters(50000, 64, 100, 0.2, 0), query = clusters(1000, 64, 100, 0.2, 0);
  const Table far = table_of(fill(1000, 64, [&](std::size_t, std::size_t) { return random_.uniform(); }));
  setenv("STOPE_CLUSTER_PAIRS", "50000000", 1);  // of one search
  const KnnIndex index = KnnIndex::fit(train);
  const auto searched = [&](const Table& queries) {
    Neighbors ours;
    const SearchReport report = index.kneighbors(queries, {.n_neighbors = 10}, {}, [&](const Neighbors& block) {
      ours.indices.insert(ours.indices.end(), block.indices.begin(), block.indices.end());
      ours.distances.insert(ours.distances.end(), block.distances.begin(), block.distances.end());
    });
    unsetenv("STOPE_BACKEND");
    const Neighbors theirs = index.kneighbors(queries, {.n_neighbors = 10}, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    EXPECT_EQ(ours.indices, theirs.indices);
    EXPECT_EQ(ours.distances, theirs.distances);
    return report;
  };
  EXPECT_EQ(searched(query).method, kWhole);
  for (int i = 0; i < 2; ++i) {
    const SearchReport report = searched(query);
    EXPECT_EQ(report.method, kInClusters);
    EXPECT_GT(report.skipped, report.scanned);
  }
  int n_far = 0;
  while (n_far < 10 && searched(far).method == kInClusters) ++n_far;
  EXPECT_GT(n_far, 0);
  EXPECT_LT(n_far, 10);
  const SearchReport report = searched(query);
  EXPECT_EQ(report.method, kWhole) << report.method_reason;
  EXPECT_EQ(report.skipped, 0);
}

}  // namespace
}  // namespace stope
