// Compares the search through boxes on a GPU with the CPU, bit for bit: every measure that boxes bound, at sizes that
// straddle leaves, groups of boxes, sorts and batches. tests/knn/filter/boxes_test.cpp has the tables made to defeat
// boxes. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "knn/answers.hpp"
#include "knn/filter/filter_cases.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using oracle::TableShape;

class BoxesCuda : public NeedsGpu {
 protected:
  /// The GPU's answer must be the CPU's. Returns the GPU's report.
  static SearchReport expect_the_processors_answer(const Table& train, const Table& query, const KnnOptions& options,
                                                   const SearchOptions& search, const char* visit = "queries") {
    const KnnIndex index = KnnIndex::fit(train, options);
    Neighbors ours;
    SearchReport report;
    {
      const Forced forced("cuda", "", "", 0, 0, visit);
      unsetenv("STOPE_TILE_QUERIES");
      report = index.kneighbors(query, search, {}, [&](const Neighbors& block) {
        ours.indices.insert(ours.indices.end(), block.indices.begin(), block.indices.end());
        ours.distances.insert(ours.distances.end(), block.distances.begin(), block.distances.end());
      });
    }
    const Neighbors theirs = index.kneighbors(query, search, {.device = "cpu"});
    EXPECT_EQ(ours.indices, theirs.indices) << report.method << "; " << report.evaluated << " evaluated, "
                                            << report.uncertified << " uncertified of " << query.n_rows;
    EXPECT_TRUE(same_bits(ours.distances, theirs.distances));
    EXPECT_EQ(report.method, "filter, boxes");
    return report;
  }
};

struct Boxed {
  const char* metric;
  int n_numeric, n_nominal;  // 0: any number of them
};
constexpr Boxed kBoxed[] = {
    {"euclidean", 1, 0}, {"sqeuclidean", 1, 0}, {"manhattan", 1, 0},         {"chebyshev", 1, 0},
    {"gower", 1, 1},     {"heom", 1, 1},        {"mixed-euclidean", 1, 1},   {"nan-euclidean", 1, 0},
    {"cosine", 1, 0},    {"haversine", 2, 0},   {"cosine-similarity", 1, 0},
};

TEST_F(BoxesCuda, EveryMeasureInSizesThatStraddleLeavesAndGroups) {
  Random random(1);
  const std::vector<std::int64_t> rows = {1,    2,    31,   32,   33,   64,   65,    1000,
                                          1024, 1025, 2047, 2048, 2049, 4097, 32769, 70001};
  const std::vector<std::int64_t> queries = {1, 2, 31, 33, 300, 4097};
  const std::vector<std::int64_t> neighbors = {1, 2, 10, 31, 32, 33, 64, 128};
  const int n_rounds = 20 * rounds();
  for (int round = 0; round < n_rounds; ++round) {
    const Boxed& boxed = kBoxed[static_cast<std::size_t>(round) % std::size(kBoxed)];
    const std::int64_t n = rows[random.below(rows.size())], m = queries[random.below(queries.size())];
    const std::int64_t k = std::min(n, neighbors[random.below(neighbors.size())]);
    const bool sphere = std::string(boxed.metric) == "haversine";
    const int width = 1 + static_cast<int>(random.below(random.below(4) == 0 ? 16 : 4));
    const int n_nominal = boxed.n_nominal == 0 ? 0 : static_cast<int>(random.below(static_cast<std::uint64_t>(width)));
    TableShape shape{.n_rows = n, .n_numeric = sphere ? 2 : width - n_nominal, .n_nominal = n_nominal};
    shape.missing = !sphere && random.below(3) == 0 ? 0.05 : 0.0;
    if (random.below(4) == 0) shape.values = TableShape::Values::few;
    SCOPED_TRACE(std::string(boxed.metric) + ", " + std::to_string(n) + " x " + std::to_string(m) + " x " +
                 std::to_string(shape.n_numeric) + "+" + std::to_string(n_nominal) + ", k " + std::to_string(k) +
                 ", missing " + std::to_string(shape.missing));
    const Table train = oracle::random_table(random, shape);
    const bool self = random.below(4) == 0 && n > k && n <= 4097;
    shape.n_rows = m;
    KnnOptions options;
    options.metric.name = boxed.metric;
    expect_the_processors_answer(train, self ? train : oracle::random_table(random, shape), options,
                                 {.n_neighbors = k, .exclude_self = self});
    if (HasFailure()) return;
  }
}

TEST_F(BoxesCuda, ManyQueriesComeInBlocks) {
  Random random(2);
  const Table train = oracle::random_table(random, {.n_rows = 200'000, .n_numeric = 3});
  const Table query = oracle::random_table(random, {.n_rows = 300'000, .n_numeric = 3});
  const SearchReport report = expect_the_processors_answer(train, query, {}, {.n_neighbors = 5}, "");
  EXPECT_EQ(report.method_reason, "boxes over boxes, on the GPU");
  EXPECT_EQ(report.uncertified, 0);
  EXPECT_LT(report.evaluated, 300'000 * 2000);
  EXPECT_GT(report.opened, 0);
  EXPECT_EQ(report.scanned + report.skipped, report.pairs);
}

// Equal rows stand in their order. A query that has k of them needs none of the others.
TEST_F(BoxesCuda, EqualRowsCloseTheBoxesBehindThem) {
  Random random(3);
  std::vector<std::vector<double>> columns(2, std::vector<double>(100'000));
  for (auto& column : columns) {
    for (double& value : column) value = static_cast<double>(random.below(2));
  }
  const Table train = table_of(columns);
  const SearchReport report =
      expect_the_processors_answer(train, train.take({0, 1, 2, 3, 4, 500, 77'777, 99'999}), {}, {.n_neighbors = 10});
  EXPECT_LT(report.evaluated, 8 * 2000);
}

TEST_F(BoxesCuda, VotesAndGroups) {
  Random random(4);
  Table train = oracle::random_table(random, {.n_rows = 3000, .n_numeric = 3, .n_nominal = 1});
  const Table query = oracle::random_table(random, {.n_rows = 700, .n_numeric = 3, .n_nominal = 1});
  expect_the_processors_answer(train, query, {}, {.n_neighbors = 7, .exclude_group = train.columns.back().name});
}

}  // namespace
}  // namespace stope
