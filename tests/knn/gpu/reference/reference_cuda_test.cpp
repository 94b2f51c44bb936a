// Compares the GPU with the reference, bit for bit: every measure's kernel at sizes that straddle tiles, every
// selection, tables larger than what is held, several sessions, and every failure. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/fault.hpp"
#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "knn/answers.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn_pairwise.hpp"
#include "stope/metric.hpp"

namespace stope {
namespace {

using oracle::TableShape;

/// Sets tile sizes for one scope; 0 leaves a size as planned.
class Tiles {
 public:
  Tiles(std::int64_t queries, std::int64_t rows, std::int64_t device_rows, std::int64_t part_rows = 0) {
    set("STOPE_TILE_QUERIES", queries);
    set("STOPE_TILE_ROWS", rows);
    set("STOPE_DEVICE_ROWS", device_rows);
    set("STOPE_PART_ROWS", part_rows);
  }
  ~Tiles() {
    for (const char* name : {"STOPE_TILE_QUERIES", "STOPE_TILE_ROWS", "STOPE_DEVICE_ROWS", "STOPE_PART_ROWS"}) {
      unsetenv(name);
    }
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

 private:
  static void set(const char* name, std::int64_t size) {
    if (size > 0) setenv(name, std::to_string(size).c_str(), 1);
  }
};

class ReferenceCuda : public NeedsGpu {
 protected:
  ~ReferenceCuda() override {
    fault::arm_alloc(0);
    fault::arm_device(0);
  }
  static RunOptions gpu(const char* device = "cuda") { return {.threads = 2, .device = device}; }
  static RunOptions cpu() { return {.device = "cpu"}; }
};

TableShape shape_of(const MetricInfo& metric, Random& random, std::int64_t n_rows) {
  const std::string name(metric.name);
  TableShape shape{.n_rows = n_rows};
  const bool one =
      name == "itakura-saito" || name == "logarithmic-loss" || name == "logistic-loss" || name == "squared-loss";
  const bool positive = one || name == "generalized-i" || name == "kl";
  constexpr int kWidths[] = {1, 2, 15, 16, 17, 33};
  const int width = one ? 1 : name == "haversine" ? 2 : kWidths[random.below(std::size(kWidths))];
  if (metric.accepts != Accepts::nominal) shape.n_numeric = width;
  if (metric.accepts == Accepts::nominal) shape.n_nominal = width;
  if (metric.accepts == Accepts::mixed) shape.n_nominal = static_cast<int>(random.below(4));
  shape.binominal = random.below(2) == 0;
  shape.missing = positive || random.below(2) == 0 ? 0.0 : 0.2;
  shape.values = positive                ? TableShape::Values::open_unit
                 : name == "mahalanobis" ? TableShape::Values::uniform
                                         : static_cast<TableShape::Values>(random.below(3));
  return shape;
}

KnnOptions options_of(const MetricInfo& metric, Random& random, const TableShape& shape) {
  KnnOptions options;
  options.metric.name = metric.name;
  if (metric.name == "minkowski") {
    options.metric.params["p"] = std::vector<std::string>{"0.5", "1.5", "3"}[random.below(3)];
  }
  if (metric.name == "kernel-euclidean") {
    options.metric.params["kernel_type"] =
        std::vector<std::string>{"dot",   "radial",       "polynomial",          "sigmoid",
                                 "anova", "epanechnikov", "gausian_combination", "multiquadric"}[random.below(8)];
  }
  options.compat = random.below(3) == 0 ? Compat::rapidminer : Compat::none;
  const bool weighs = metric.name != "dtw" && metric.name != "haversine" && metric.name != "mahalanobis";
  if (weighs && random.below(2) == 0) {
    for (int i = 0; i < shape.n_numeric + shape.n_nominal; ++i) {
      options.feature_weights.push_back(0.25 + static_cast<double>(random.below(8)));
    }
  }
  return options;
}

// Compares one random table and search of one measure. Returns false if the measure refuses the table.
bool compare_search(const MetricInfo& metric, Random& random) {
  constexpr std::int64_t kRows[] = {40, 63, 64, 65, 127, 129, 300};
  TableShape shape = shape_of(metric, random, kRows[random.below(std::size(kRows))]);
  const Table train = oracle::random_table(random, shape);
  const std::int64_t n = shape.n_rows;
  shape.n_rows = 1 + static_cast<std::int64_t>(random.below(50));
  const Table query = oracle::random_table(random, shape);
  const KnnOptions options = options_of(metric, random, shape);
  const SearchOptions search{.n_neighbors = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)))};
  const auto size = [&](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
  try {
    const Neighbors theirs = KnnIndex::fit(train, options, {}).kneighbors(query, search, {.device = "cpu"});
    const Tiles tiles(size(40), size(90), size(100), random.below(3) == 0 ? size(120) : 0);
    const KnnIndex index = KnnIndex::fit(train, options, {});
    const RunOptions run{.threads = 1, .device = random.below(4) == 0 ? "cuda:0,0" : "cuda"};
    expect_same(index.kneighbors(query, search, run), theirs);
    const SearchReport report = index.kneighbors(query, search, run, [](const Neighbors&) {});
    EXPECT_EQ(report.backend, "cuda");
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
    EXPECT_NE(error.code(), ErrorCode::device_lost) << error.what();
    EXPECT_NE(error.code(), ErrorCode::device_unavailable) << error.what();
    return false;
  }
  return true;
}

/// The parameter: a measure's place in metrics().
class EveryMeasureCuda : public ReferenceCuda, public testing::WithParamInterface<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(, EveryMeasureCuda, testing::Range(std::size_t{0}, metrics().size()), [](const auto& place) {
  std::string name(metrics()[place.param].name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Runs STOPE_ROUNDS random searches, by the seed STOPE_SEED.
TEST_P(EveryMeasureCuda, HasTheReferencesBits) {
  const MetricInfo& metric = metrics()[GetParam()];
  const int n_rounds = rounds(12);
  Random random(static_cast<std::uint64_t>(from_environment("STOPE_SEED", 21)));
  int compared = 0;
  for (int round = 0; round < n_rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    compared += compare_search(metric, random) ? 1 : 0;
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(compared, 0);
}

TEST_P(EveryMeasureCuda, MatricesOfDistancesAndSimilarities) {
  const MetricInfo& metric = metrics()[GetParam()];
  Random random(8);
  TableShape shape = shape_of(metric, random, 70);
  const Table reference = oracle::random_table(random, shape);
  shape.n_rows = 33;
  const Table request = oracle::random_table(random, shape);
  for (const bool similarities : {false, true}) {
    PairwiseOptions options;
    options.knn.metric.name = metric.name;
    if (metric.name == "minkowski") options.knn.metric.params["p"] = "1.5";  // 2 is the Euclidean distance
    options.similarities = similarities;
    const auto matrix = [&](const RunOptions& run) {
      std::vector<double> values;
      pairwise_distances(request, reference, options, run, [&](const PairwiseBlock& block) {
        values.insert(values.end(), block.values, block.values + block.n_requests * block.n_reference);
      });
      return values;
    };
    const std::vector<double> theirs = matrix(cpu());
    const Tiles tiles(10, 31, 40);
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(matrix(gpu()), theirs));
  }
}

// There are more training rows than the GPU may hold: chunks, both buffers, copies that overlap computing.
TEST_F(ReferenceCuda, TablesThatComeInChunks) {
  Random random(5);
  const Table train = oracle::random_table(random, {.n_rows = 60000, .n_numeric = 20, .missing = 0.05});
  const Table query = oracle::random_table(random, {.n_rows = 700, .n_numeric = 20});
  const SearchOptions search{.n_neighbors = 10};
  KnnOptions options;
  options.metric.name = "inner-product";  // no filter on GPUs takes it, so every distance is computed
  const KnnIndex index = KnnIndex::fit(train, options);
  const Neighbors theirs = index.kneighbors(query, search, cpu());
  for (const std::int64_t chunk : {7000, 29999, 30000, 60000}) {
    const Tiles tiles(300, 2000, chunk);
    const SearchReport report = index.kneighbors(query, search, gpu(), [](const Neighbors&) {});
    EXPECT_EQ(report.method, "reference");
    EXPECT_EQ(report.part_rows, chunk);
    ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query, search, gpu()), theirs));
  }
  // The encoded table has 9.6 MB: neither the host nor the GPU may hold it whole.
  for (const std::int64_t limit : {std::int64_t{8} << 20, std::int64_t{2} << 20}) {
    RunOptions run = gpu();
    run.memory_limit = limit;
    const KnnIndex unheld = KnnIndex::fit(train, options, run);
    const SearchReport report = unheld.kneighbors(query, search, run, [](const Neighbors&) {});
    EXPECT_EQ(report.method, "reference");
    EXPECT_LT(report.part_rows, train.n_rows);
    EXPECT_LE(report.memory_planned, limit);
    ASSERT_NO_FATAL_FAILURE(expect_same(unheld.kneighbors(query, search, run), theirs));
  }
}

TEST_F(ReferenceCuda, RadiusGroupsAndWholeTables) {
  Random random(6);
  const Table table = oracle::random_table(
      random, {.n_rows = 900, .n_numeric = 3, .n_nominal = 2, .missing = 0.1, .values = TableShape::Values::few});
  const KnnIndex index = KnnIndex::fit(table);
  const Tiles tiles(100, 256, 400);
  const SearchOptions group{.n_neighbors = 5, .exclude_group = "s1"};
  expect_same(index.kneighbors(table, group, gpu()), index.kneighbors(table, group, cpu()));
  const SearchOptions all{.n_neighbors = 899, .exclude_self = true};
  expect_same(index.kneighbors(table, all, gpu()), index.kneighbors(table, all, cpu()));
  for (const double radius : {-1.0, 0.0, 1.0, 1e9, HUGE_VAL}) {
    std::vector<std::int64_t> ours, theirs;
    index.radius_neighbors(table, radius, {}, gpu(), [&](const Neighbors& block) {
      ours.insert(ours.end(), block.indices.begin(), block.indices.end());
    });
    index.radius_neighbors(table, radius, {}, cpu(), [&](const Neighbors& block) {
      theirs.insert(theirs.end(), block.indices.begin(), block.indices.end());
    });
    EXPECT_EQ(ours, theirs) << radius;
  }
}

TEST_F(ReferenceCuda, TheSameOverManyRuns) {
  Random random(7);
  const Table table = oracle::random_table(random, {.n_rows = 5000, .n_numeric = 6});
  const KnnIndex index = KnnIndex::fit(table);
  const Neighbors first = index.kneighbors(table, {}, gpu());
  for (int i = 0; i < 20; ++i) {
    expect_same(index.kneighbors(table, {}, gpu(i % 2 == 0 ? "cuda" : "cuda:0,0")), first);
    if (HasFatalFailure()) return;
  }
}

// The n-th allocation fails: smaller tiles do as well, or the error must say that memory is short.
TEST_F(ReferenceCuda, EveryAllocationFailsOnce) {
  Random random(9);
  const Table table = oracle::random_table(random, {.n_rows = 300, .n_numeric = 3});
  const auto fit = [&] { return KnnIndex::fit(table); };
  const auto search = [&](const KnnIndex& index) { return index.kneighbors(table, {}, gpu()); };
  EXPECT_GT(fail_every_allocation_once(fit().kneighbors(table, {}, cpu()), fit, search), 10);
}

// From the n-th call on the GPU is lost. Every step must say so, none may hang, and the GPU works again once disarmed.
TEST_F(ReferenceCuda, TheGpuIsLostAtEveryCall) {
  Random random(10);
  const Table table = oracle::random_table(random, {.n_rows = 300, .n_numeric = 3});
  const KnnIndex index = KnnIndex::fit(table);
  const Tiles tiles(150, 100, 120);
  const Neighbors expected = index.kneighbors(table, {}, cpu());
  EXPECT_GT(lose_the_gpu_at_every_call(expected, [&] { return index.kneighbors(table, {}, gpu()); }), 50);
}

TEST_F(ReferenceCuda, StopsWhenCancelled) {
  Random random(2);
  const Table table = oracle::random_table(random, {.n_rows = 2000, .n_numeric = 2});
  const Tiles tiles(100, 100, 0);
  RunOptions run = gpu();
  run.cancel.cancel();
  try {
    KnnIndex::fit(table).kneighbors(table, {}, run);
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace stope
