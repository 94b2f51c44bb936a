// Compares every instance of every kernel with the CPU, bit for bit, at sizes that straddle its tiles.
// compute-sanitizer runs this (scripts/gpu_check.sh, which asks the watched plug-in whether an instance was missed), so
// tables are small and few. The method of each search is checked, too: another one would prove nothing here. Skipped
// where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "knn/answers.hpp"
#include "oracle/random_table.hpp"
#include "stope/device.hpp"
#include "stope/knn.hpp"
#include "stope/metric.hpp"

namespace stope {
namespace {

using oracle::TableShape;

struct Search {
  std::string metric;
  TableShape shape;  // its rows are the training table's
  std::int64_t n_queries;
  std::int64_t n_neighbors;
  Compat compat = Compat::none;
  bool exclude_self = false;  // queries are the first training rows
};

class KernelsCuda : public NeedsGpu {
 protected:
  void SetUp() override {
    const DeviceInfo device = device_info();
    NeedsGpu::SetUp();
    if (IsSkipped()) return;
    has_ampere_ = device.gpus.front().arch != "sm_75";
    has_hopper_ = device.gpus.front().arch == "sm_90";
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
  }
  ~KernelsCuda() override {
    for (const char* name : {"STOPE_BACKEND", "STOPE_SCAN", "STOPE_VISIT", "STOPE_CUDA_SCAN",
                             "STOPE_CUDA_SHARED_MEMORY", "STOPE_BLOCK_ORDER"}) {
      unsetenv(name);
    }
  }

  void compare(const Search& search, const std::string& method) {
    SCOPED_TRACE(search.metric + ", " + std::to_string(search.shape.n_rows) + " x " + std::to_string(search.n_queries) +
                 " x " + std::to_string(search.shape.n_numeric) + "+" + std::to_string(search.shape.n_nominal) +
                 ", k " + std::to_string(search.n_neighbors));
    const Table train = oracle::random_table(random_, search.shape);
    TableShape shape = search.shape;
    shape.n_rows = search.n_queries;
    const Table query = search.exclude_self ? train : oracle::random_table(random_, shape);
    KnnOptions options;
    options.metric.name = search.metric;
    options.compat = search.compat;
    const SearchOptions wanted{.n_neighbors = search.n_neighbors, .exclude_self = search.exclude_self};
    const KnnIndex index = KnnIndex::fit(train, options);
    Neighbors ours;
    const SearchReport report = index.kneighbors(query, wanted, {}, [&](const Neighbors& block) {
      for (std::int64_t i = 0; i < block.n_queries(); ++i) {
        ours.offsets.push_back(ours.offsets.back() + search.n_neighbors);
      }
      ours.indices.insert(ours.indices.end(), block.indices.begin(), block.indices.end());
      ours.distances.insert(ours.distances.end(), block.distances.begin(), block.distances.end());
    });
    EXPECT_EQ(report.method, method);
    EXPECT_EQ(report.backend, "cuda");
    // Where there are many queries, the first ones prove as much.
    std::vector<std::int64_t> some;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(query.n_rows, 300); ++i) some.push_back(i);
    const auto n_some = static_cast<std::int64_t>(some.size());
    if (n_some < query.n_rows && !search.exclude_self) {
      ours.offsets.resize(some.size() + 1);
      ours.indices.resize(static_cast<std::size_t>(n_some * search.n_neighbors));
      ours.distances.resize(ours.indices.size());
    }
    unsetenv("STOPE_BACKEND");
    expect_same(ours, index.kneighbors(search.exclude_self ? query : query.take(some), wanted, {.device = "cpu"}));
    setenv("STOPE_BACKEND", "cuda", 1);
  }

  // The same for lists within the distance of the first query's seventh neighbour, without a group of a third of the
  // rows.
  void compare_within(const std::string& metric, const TableShape& shape, const std::string& method) {
    SCOPED_TRACE(metric + ", within a radius");
    const Table train = oracle::random_table(random_, shape), query = train.take({0, 5, 17, 40, 41, 42, 43});
    KnnOptions options;
    options.metric.name = metric;
    const KnnIndex index = KnnIndex::fit(train, options);
    const auto groups = [](std::int64_t n) {
      std::vector<double> numbers;
      for (std::int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<double>(i % 3) - 1.0);
      return make_numeric("", numbers);
    };
    const SearchOptions wanted{.exclude_train = groups(train.n_rows), .exclude_query = groups(query.n_rows)};
    unsetenv("STOPE_BACKEND");
    const double radius = index.kneighbors(query, {.n_neighbors = 7}, {.device = "cpu"}).distances[6];
    const Neighbors theirs = index.radius_neighbors(query, radius, wanted, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    SearchReport report;
    const Neighbors ours = index.radius_neighbors(query, radius, wanted, {}, &report);
    EXPECT_EQ(report.method, method);
    expect_same(ours, theirs);
  }

  Random random_{1};
  bool has_ampere_ = true, has_hopper_ = false;
};

std::string readable(std::string metric) {
  std::replace(metric.begin(), metric.end(), '-', '_');
  return metric;
}

constexpr const char* kProducts = "filter, products";
constexpr const char* kDifferences = "filter, differences";

// Images of 32, 64, 96, 128 and more columns, with the scores' starts in columns of their own or apart from the images.
// Queries for one instruction and for two, and beyond a block. Rows around tiles of 64, 128 and 256.
class ScansOfProductsCuda : public KernelsCuda, public testing::WithParamInterface<std::tuple<std::string, int>> {};

TEST_P(ScansOfProductsCuda, AtSizesThatStraddleTiles) {
  const auto& [scan, columns] = GetParam();
  if (scan == "sm80" && !has_ampere_) GTEST_SKIP() << "no such instructions";
  setenv("STOPE_CUDA_SCAN", scan == "usual" ? "" : scan.c_str(), 1);
  int round = columns;
  for (const std::int64_t queries : {7, 33, 257}) {
    if (scan == "few" && queries > 33) continue;
    constexpr std::int64_t kRows[] = {129, 63, 300, 513, 1};
    const std::int64_t rows = kRows[round++ % 5];
    const TableShape shape{.n_rows = rows, .n_numeric = columns};
    compare({"euclidean", shape, queries, std::min<std::int64_t>(rows, round % 2 == 0 ? 3 : 40)}, kProducts);
  }
}

INSTANTIATE_TEST_SUITE_P(, ScansOfProductsCuda,
                         testing::Combine(testing::Values("usual", "sm80", "sm75", "few"),
                                          testing::Values(20, 31, 61, 63, 80, 95, 125, 127, 140)),
                         [](const auto& chosen) {
                           return std::get<0>(chosen.param) + "_" + std::to_string(std::get<1>(chosen.param));
                         });

// Images of 32, 64, 96 and 128 columns whose tiles are chosen, with the starts in columns of their own or apart.
TEST_F(KernelsCuda, ScansOfChosenTiles) {
  if (!has_hopper_) return;
  setenv("STOPE_BLOCK_ORDER", "near", 1);
  for (const int columns : {20, 31, 61, 63, 80, 95, 125, 127}) {
    compare({"euclidean", {.n_rows = 513, .n_numeric = columns}, 257, 3}, "filter, products, clusters");
  }
  compare({"euclidean", {.n_rows = 300, .n_numeric = 31}, 300, 7, Compat::none, true}, "filter, products, clusters");
}

// Images of 128 and of 256 bytes: whole numbers near zero (twice the products), and the whole range of a byte.
TEST_F(KernelsCuda, ScansOfBytes) {
  if (!has_hopper_) return;
  setenv("STOPE_CUDA_SCAN", "bytes", 1);
  for (const auto values : {TableShape::Values::few, TableShape::Values::bytes}) {
    for (const int columns : {20, 127, 128, 129, 256}) {
      for (const std::int64_t rows : {129, 300}) {
        const TableShape shape{.n_rows = rows, .n_numeric = columns, .values = values};
        compare({"euclidean", shape, rows == 300 ? 7 : 257, rows == 300 ? 40 : 3}, "filter, byte products");
      }
    }
    const TableShape shape{.n_rows = 300, .n_numeric = 100, .values = values};
    compare({"euclidean", shape, 300, 7, Compat::none, true}, "filter, byte products");
    compare({"euclidean", shape, 33, 7, Compat::rapidminer}, "filter, byte products");
  }
}

// Shared memory is limited to that of a block on Ampere's and Ada's smaller GPUs; only the watched plug-in obeys.
TEST_F(KernelsCuda, ScansOfSmallerGpus) {
  setenv("STOPE_CUDA_SHARED_MEMORY", "101376", 1);
  for (const char* scan : {"sm80", "few"}) {
    if (!has_ampere_) continue;
    setenv("STOPE_CUDA_SCAN", scan, 1);
    for (const int columns : {20, 127, 200}) {
      compare({"euclidean", {.n_rows = 300, .n_numeric = columns}, 33, 5}, kProducts);
    }
  }
  unsetenv("STOPE_CUDA_SCAN");
  setenv("STOPE_SCAN", "differences", 1);
  for (const int columns : {20, 90, 300}) {
    compare({"chebyshev", {.n_rows = 300, .n_numeric = columns}, 33, 5}, kDifferences);
  }
}

// A sample has few or many maxima, and lists are tightened in between.
TEST_F(KernelsCuda, ThresholdsOfProducts) {
  compare({"euclidean", {.n_rows = 1537, .n_numeric = 9}, 33, 24}, kProducts);
  compare({"euclidean", {.n_rows = 2700, .n_numeric = 9}, 33, 40}, kProducts);
  compare({"euclidean", {.n_rows = 13000, .n_numeric = 9}, 33, 200}, kProducts);
  compare({"euclidean", {.n_rows = 115000, .n_numeric = 9}, 4097, 24}, kProducts);
  compare({"euclidean", {.n_rows = 360000, .n_numeric = 9}, 2100, 130}, kProducts);
}

class DistancesOfProductsCuda : public KernelsCuda, public testing::WithParamInterface<std::string> {};

TEST_P(DistancesOfProductsCuda, OfFewAndManyNeighbors) {
  const bool mixed = GetParam() == "mixed-euclidean" || GetParam() == "heom";
  for (const std::int64_t k : {2, 24, 25, 60, 200}) {
    for (const Compat compat : {Compat::none, Compat::rapidminer}) {
      TableShape shape{.n_rows = 700, .n_numeric = 17};
      if (mixed) shape = {.n_rows = 700, .n_numeric = 9, .n_nominal = 4, .missing = k == 2 ? 0.0 : 0.1};
      if (k != 24) shape.values = TableShape::Values::few;
      compare({GetParam(), shape, 33, k, compat}, kProducts);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, DistancesOfProductsCuda,
                         testing::Values("euclidean", "sqeuclidean", "mixed-euclidean", "heom", "cosine",
                                         "cosine-similarity"),
                         [](const auto& metric) { return readable(metric.param); });

TEST_F(KernelsCuda, RowsThatAreTheirOwnNeighbors) {
  compare({"euclidean", {.n_rows = 257, .n_numeric = 5}, 257, 7, Compat::none, true}, kProducts);
}

// No filter bounds these measures: every distance that may enter a list comes back.
TEST_F(KernelsCuda, DistancesThatMayEnterLists) {
  for (const char* metric : {"correlation", "inner-product"}) {
    compare({metric, {.n_rows = 600, .n_numeric = 17, .values = TableShape::Values::few}, 65, 7}, "reference");
    compare({metric, {.n_rows = 33, .n_numeric = 17}, 3, 33}, "reference");
  }
}

struct Form {
  const char* metric;
  int n_numeric, n_nominal;
  double missing;
  bool bytes;
};

// Every form of a sum with and without missing values, and the distances of every measure that has it.
class ScansOfDifferencesCuda : public KernelsCuda, public testing::WithParamInterface<Form> {
 protected:
  void compare_form(const Form& form, bool bytes) {
    setenv("STOPE_SCAN", bytes ? "bytes" : "differences", 1);
    const char* const method = bytes ? "filter, byte differences" : kDifferences;
    TableShape shape{.n_rows = 300, .n_numeric = form.n_numeric, .n_nominal = form.n_nominal, .missing = form.missing};
    if (std::string(form.metric) == "squared-loss") shape.values = TableShape::Values::open_unit;
    compare({form.metric, shape, 129, 5}, method);
    shape.n_rows = 129;
    if (form.missing > 0.0) shape.values = TableShape::Values::few;
    compare({form.metric, shape, 33, 40}, method);
  }
};

TEST_P(ScansOfDifferencesCuda, AtSizesThatStraddleTiles) {
  compare_form(GetParam(), false);
  if (GetParam().bytes && has_ampere_) compare_form(GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(, ScansOfDifferencesCuda,
                         testing::Values(Form{"euclidean", 9, 0, 0.0, false}, Form{"euclidean", 9, 0, 0.1, false},
                                         Form{"sqeuclidean", 33, 0, 0.1, false},
                                         Form{"mixed-euclidean", 5, 3, 0.0, false},
                                         Form{"mixed-euclidean", 5, 3, 0.1, false}, Form{"heom", 5, 3, 0.0, false},
                                         Form{"heom", 5, 3, 0.1, false}, Form{"nan-euclidean", 9, 0, 0.0, false},
                                         Form{"nan-euclidean", 9, 3, 0.1, false}, Form{"braycurtis", 9, 0, 0.1, false},
                                         Form{"chebyshev", 65, 0, 0.1, false}, Form{"canberra", 9, 0, 0.1, false},
                                         Form{"manhattan", 9, 0, 0.0, true}, Form{"manhattan", 31, 0, 0.1, true},
                                         Form{"gower", 5, 3, 0.0, true}, Form{"gower", 9, 4, 0.1, true},
                                         Form{"hamming", 0, 9, 0.0, true}, Form{"hamming", 0, 9, 0.1, true},
                                         Form{"nominal-distance", 0, 9, 0.1, true}, Form{"cosine", 9, 0, 0.0, false},
                                         Form{"cosine-similarity", 9, 0, 0.0, false},
                                         Form{"haversine", 2, 0, 0.0, false}, Form{"squared-loss", 1, 0, 0.0, false}),
                         [](const auto& form) {
                           return readable(form.param.metric) + (form.param.missing > 0.0 ? "_missing_" : "_") +
                                  std::to_string(form.param.n_numeric + form.param.n_nominal);
                         });

// Every measure, with one neighbour a lane and with four; two levels of boxes, and sorts in and beyond shared memory.
class SearchesThroughBoxesCuda : public KernelsCuda, public testing::WithParamInterface<Form> {};

TEST_P(SearchesThroughBoxesCuda, OfFewAndManyNeighbors) {
  setenv("STOPE_VISIT", "queries", 1);
  const Form& form = GetParam();
  TableShape shape{.n_rows = 2100, .n_numeric = form.n_numeric, .n_nominal = form.n_nominal, .missing = form.missing};
  if (std::string(form.metric) == "squared-loss") shape.values = TableShape::Values::open_unit;
  compare({form.metric, shape, 65, 5}, "filter, boxes");
  shape.n_rows = 300;
  compare({form.metric, shape, 300, 40, Compat::none, true}, "filter, boxes");
}

INSTANTIATE_TEST_SUITE_P(, SearchesThroughBoxesCuda,
                         testing::Values(Form{"euclidean", 3, 0, 0.0, false}, Form{"sqeuclidean", 3, 0, 0.1, false},
                                         Form{"mixed-euclidean", 2, 1, 0.1, false}, Form{"heom", 2, 1, 0.1, false},
                                         Form{"nan-euclidean", 3, 0, 0.1, false}, Form{"chebyshev", 2, 0, 0.0, false},
                                         Form{"manhattan", 3, 0, 0.0, false}, Form{"gower", 2, 1, 0.1, false},
                                         Form{"cosine", 3, 0, 0.0, false}, Form{"cosine-similarity", 3, 0, 0.0, false},
                                         Form{"haversine", 2, 0, 0.0, false}, Form{"squared-loss", 1, 0, 0.0, false},
                                         Form{"nominal-distance", 0, 3, 0.1, true}),
                         [](const auto& form) { return readable(form.param.metric); });

// The sample has a stride, columns come in panels, and rows are excluded.
TEST_F(KernelsCuda, ScansOfLargerDifferences) {
  for (const char* scan : {"differences", "bytes"}) {
    const bool bytes = std::string(scan) == "bytes";
    if (bytes && !has_ampere_) continue;
    setenv("STOPE_SCAN", scan, 1);
    const char* const method = bytes ? "filter, byte differences" : kDifferences;
    compare({"manhattan", {.n_rows = 9000, .n_numeric = 130}, 33, 10}, method);
    const TableShape mixed{.n_rows = 257, .n_numeric = 3, .n_nominal = 2, .missing = 0.05};
    compare({"gower", mixed, 257, 9, Compat::none, true}, method);
    // RapidMiner's heaps: chunks of the table, of more than one tile.
    compare({"manhattan", {.n_rows = 1500, .n_numeric = 17}, 33, 10, Compat::rapidminer}, method);
    compare({"manhattan", {.n_rows = 1500, .n_numeric = 17}, 33, 200, Compat::rapidminer}, method);
    compare({"gower", mixed, 257, 9, Compat::rapidminer, true}, method);
  }
}

// A radius takes the place of the sample.
TEST_F(KernelsCuda, ListsWithinARadius) {
  const TableShape mixed{.n_rows = 300, .n_numeric = 3, .n_nominal = 2, .missing = 0.05};
  compare_within("euclidean", {.n_rows = 300, .n_numeric = 9}, kProducts);
  compare_within("cosine", {.n_rows = 300, .n_numeric = 9}, kProducts);
  setenv("STOPE_SCAN", "differences", 1);
  compare_within("chebyshev", {.n_rows = 300, .n_numeric = 9}, kDifferences);
  compare_within("gower", mixed, kDifferences);
  if (has_ampere_) {
    setenv("STOPE_SCAN", "bytes", 1);
    compare_within("gower", mixed, "filter, byte differences");
  }
  unsetenv("STOPE_SCAN");
  setenv("STOPE_VISIT", "queries", 1);
  compare_within("manhattan", {.n_rows = 300, .n_numeric = 3}, "filter, boxes");
}

}  // namespace
}  // namespace stope
