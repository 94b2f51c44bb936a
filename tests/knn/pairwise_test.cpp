// Pairwise distances and cross distances: order of arguments, blocks, nearest and farthest, similarities.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <span>

#include "environment.hpp"
#include "expect_error.hpp"
#include "knn/lists/neighbor_list.hpp"
#include "oracle/measure_oracle.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn_pairwise.hpp"
#include "stope/metric.hpp"

namespace stope {
namespace {

Table numbers(const std::vector<double>& values) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(values.size());
  table.columns.push_back(make_numeric("x", values));
  return table;
}

PairwiseOptions with(const char* metric) {
  PairwiseOptions options;
  options.knn.metric.name = metric;
  return options;
}

TEST(Pairwise, BlocksCoverTheMatrixAndTheRequestComesFirst) {
  Random random(3);
  const oracle::TableShape shape{.n_rows = 37, .n_numeric = 3, .values = oracle::TableShape::Values::open_unit};
  const Table request = oracle::random_table(random, shape);
  const Table reference =
      oracle::random_table(random, {.n_rows = 33, .n_numeric = 3, .values = oracle::TableShape::Values::open_unit});
  for (const char* tile : {"1", "5", "37", "1000"}) {
    setenv("STOPE_TILE_QUERIES", tile, 1);
    std::int64_t next = 0;
    const SearchReport report =
        pairwise_distances(request, reference, with("generalized-i"), {}, [&](const PairwiseBlock& block) {
          ASSERT_EQ(block.first_request, next);
          ASSERT_EQ(block.n_reference, 33);
          for (std::int64_t i = 0; i < block.n_requests; ++i, ++next) {
            for (std::int64_t j = 0; j < block.n_reference; ++j) {
              // x = request, so the oracle's "training" table is the request.
              const double expected = oracle::distance("generalized-i", request, next, reference, j);
              ASSERT_NEAR(block.values[i * block.n_reference + j], expected, 1e-12);
            }
          }
        });
    EXPECT_EQ(next, 37);
    EXPECT_EQ(report.pairs, 37 * 33);
  }
  unsetenv("STOPE_TILE_QUERIES");
}

// 70 requests and 600 references: several tiles of rows, and one of few queries.
TEST(Pairwise, TheMatrixHasTheReferencesBitsOnEveryBackEnd) {
  Random random(5);
  const oracle::TableShape shape{.n_rows = 70, .n_numeric = 11};
  const Table request = oracle::random_table(random, shape);
  const Table reference = oracle::random_table(random, {.n_rows = 600, .n_numeric = 11});
  for (const char* metric : {"euclidean", "manhattan", "chebyshev", "canberra", "cosine"}) {
    for (const bool similarities : {false, true}) {
      PairwiseOptions options = with(metric);
      options.similarities = similarities;
      std::vector<double> expected;
      {
        const ForcedBackend forced("reference");
        pairwise_distances(request, reference, options, {}, [&](const PairwiseBlock& block) {
          expected.insert(expected.end(), block.values, block.values + block.n_requests * block.n_reference);
        });
      }
      ASSERT_EQ(expected.size(), 70U * 600U);
      std::vector<double> found(expected.size());
      const auto expect_them = [&](const char* backend) {
        std::fill(found.begin(), found.end(), 7.0);
        pairwise_distances(request, reference, options, {}, std::span<double>(found));
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)), 0)
            << metric << ", " << backend;
      };
      expect_them("the best");
      for (const char* backend : {"scalar", "reference"}) {
        const ForcedBackend forced(backend);
        expect_them(backend);
      }
    }
  }
}

TEST(Pairwise, AMatrixOfAnotherSizeIsRefused) {
  const Table two = numbers({1.0, 2.0}), three = numbers({1.0, 2.0, 4.0});
  std::vector<double> matrix(5);
  expect_error(ErrorCode::invalid_argument, "the matrix has 5 values, but there are 6 pairs",
               [&] { pairwise_distances(two, three, with("euclidean"), {}, std::span<double>(matrix)); });
  matrix.resize(6);
  pairwise_distances(two, three, with("manhattan"), {}, std::span<double>(matrix));
  EXPECT_EQ(matrix, (std::vector<double>{0.0, 1.0, 3.0, 1.0, 0.0, 2.0}));
}

TEST(CrossDistances, NearestAndFarthestTakeTiesByRowAndNaNLast) {
  const Table request = numbers({0.0});
  const Table reference = numbers({2.0, -2.0, std::nan(""), 1.0, 3.0});
  PairwiseOptions options = with("euclidean");
  options.n_neighbors = 3;
  const auto documents = [&] {
    std::vector<std::int64_t> rows;
    for (const CrossDistance& pair : cross_distances(request, reference, options)) rows.push_back(pair.document);
    return rows;
  };
  EXPECT_EQ(documents(), (std::vector<std::int64_t>{3, 0, 1}));
  options.search_for = SearchFor::farthest;
  EXPECT_EQ(documents(), (std::vector<std::int64_t>{4, 0, 1}));
  options.n_neighbors = 5;
  EXPECT_EQ(documents(), (std::vector<std::int64_t>{4, 0, 1, 3, 2}));
  options.n_neighbors = 0;
  EXPECT_EQ(documents(), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{6}}) {
    options.n_neighbors = bad;
    expect_error(ErrorCode::invalid_argument, "k = " + std::to_string(bad),
                 [&] { cross_distances(request, reference, options); });
  }
}

// The nearest come from a search with the reference row first; the matrix has the request first. The bits must be the
// same, for all measures.
TEST(CrossDistances, TheNearestAreThoseOfTheMatrix) {
  Random random(8);
  for (const MetricInfo& metric : metrics()) {
    const bool haversine = metric.name == "haversine";
    oracle::TableShape shape{.n_rows = 150,
                             .n_numeric = metric.accepts == Accepts::nominal ? 0
                                          : haversine                        ? 2
                                                                             : 4,
                             .n_nominal = metric.accepts == Accepts::numeric ? 0 : 3,
                             .values = oracle::TableShape::Values::open_unit};
    if (metric.family == "Bregman") shape.n_numeric = 1;
    const Table reference = oracle::random_table(random, shape);
    shape.n_rows = 40;
    const Table request = oracle::random_table(random, shape);
    PairwiseOptions options = with("");
    options.knn.metric.name = metric.name;
    const std::vector<CrossDistance> all = cross_distances(request, reference, options);
    options.n_neighbors = 7;
    setenv("STOPE_BACKEND", "scalar", 1);
    const std::vector<CrossDistance> nearest = cross_distances(request, reference, options);
    unsetenv("STOPE_BACKEND");
    ASSERT_EQ(nearest.size(), 40U * 7U) << metric.name;
    for (std::int64_t i = 0; i < 40; ++i) {
      std::vector<CrossDistance> row(all.begin() + i * 150, all.begin() + (i + 1) * 150);
      std::stable_sort(row.begin(), row.end(), [](const CrossDistance& a, const CrossDistance& b) {
        if (std::isnan(a.distance) || std::isnan(b.distance)) return !std::isnan(a.distance) && std::isnan(b.distance);
        return a.distance < b.distance;
      });
      for (std::size_t j = 0; j < 7; ++j) {
        const CrossDistance& ours = nearest[static_cast<std::size_t>(i) * 7 + j];
        ASSERT_EQ(ours.document, row[j].document) << metric.name;
        ASSERT_TRUE(ours.distance == row[j].distance || std::isnan(row[j].distance)) << metric.name;
      }
    }
  }
}

// The nearest by distance come from a search, and their similarities from the formula, pair by pair.
TEST(CrossDistances, TheSimilaritiesOfTheNearestAreThoseOfTheMatrix) {
  Random random(9);
  const oracle::TableShape::Values values = oracle::TableShape::Values::few;
  const Table reference =
      oracle::random_table(random, {.n_rows = 200, .n_numeric = 4, .n_nominal = 2, .values = values});
  const Table request = oracle::random_table(random, {.n_rows = 30, .n_numeric = 4, .n_nominal = 2, .values = values});
  for (const char* metric : {"mixed-euclidean", "gower", "heom"}) {
    for (const std::int64_t part_rows : {0, 70}) {
      const PartRows parts(part_rows);
      const ForcedBackend forced("scalar");
      PairwiseOptions options = with(metric);
      options.similarities = true;
      const std::vector<CrossDistance> all = cross_distances(request, reference, options);
      options.n_neighbors = 6;
      const std::vector<CrossDistance> similar = cross_distances(request, reference, options);
      options.similarities = false;
      const std::vector<CrossDistance> nearest = cross_distances(request, reference, options);
      ASSERT_EQ(similar.size(), nearest.size());
      for (std::size_t i = 0; i < similar.size(); ++i) {
        ASSERT_EQ(similar[i].request, nearest[i].request);
        ASSERT_EQ(similar[i].document, nearest[i].document) << metric;
        ASSERT_EQ(similar[i].distance,
                  all[static_cast<std::size_t>(similar[i].request * 200 + similar[i].document)].distance);
      }
    }
  }
}

TEST(CrossDistances, RapidMinersNearestAreThoseOfItsHeapOverTheMatrix) {
  Random random(10);
  const oracle::TableShape::Values values = oracle::TableShape::Values::few;
  for (const int n_nominal : {0, 2}) {
    oracle::TableShape shape{.n_rows = 300, .n_numeric = 3, .n_nominal = n_nominal, .missing = 0.1, .values = values};
    const Table reference = oracle::random_table(random, shape);
    shape.n_rows = 60;
    const Table request = oracle::random_table(random, shape);
    for (const char* metric : {"mixed-euclidean", "euclidean", "manhattan", "cosine"}) {
      if (n_nominal > 0 && std::string(metric) != "mixed-euclidean") continue;
      PairwiseOptions options = with(metric);
      options.knn.compat = Compat::rapidminer;
      std::vector<double> matrix(60U * 300U);
      pairwise_distances(request, reference, options, {}, std::span<double>(matrix));
      for (const std::int64_t k : {1, 7, 60, 301}) {
        SCOPED_TRACE(std::string(metric) + ", k " + std::to_string(k));
        std::vector<CrossDistance> wanted;
        knn::RapidMinerHeap heap;
        for (std::int64_t i = 0; i < 60; ++i) {
          heap.reset(k);
          for (std::int64_t j = 0; j < 300; ++j) heap.offer({matrix[static_cast<std::size_t>(i * 300 + j)], j});
          for (const knn::Neighbor& each : heap.array()) wanted.push_back({i, each.row, each.distance});
        }
        std::stable_sort(wanted.begin(), wanted.end(), [](const CrossDistance& a, const CrossDistance& b) {
          return knn::java_greater(b.distance, a.distance);
        });
        options.n_neighbors = k;
        const ForcedBackend forced("scalar");
        const std::vector<CrossDistance> found = cross_distances(request, reference, options);
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].request, wanted[i].request) << i;
          ASSERT_EQ(found[i].document, wanted[i].document) << i;
          ASSERT_EQ(std::memcmp(&found[i].distance, &wanted[i].distance, sizeof(double)), 0) << i;
        }
      }
    }
  }
}

TEST(CrossDistances, SimilaritiesAreTheMeasuresOwn) {
  Table request = numbers({3.0}), reference = numbers({4.0});
  request.columns.push_back(make_numeric("y", {4.0}));
  reference.columns.push_back(make_numeric("y", {3.0}));
  const auto similarity = [&](const char* metric) {
    PairwiseOptions options = with(metric);
    options.similarities = true;
    return cross_distances(request, reference, options).front().distance;
  };
  EXPECT_EQ(similarity("cosine-similarity"), 24.0 / 25.0);
  EXPECT_EQ(similarity("cosine"), 24.0 / 25.0);
  EXPECT_EQ(similarity("euclidean"), -std::sqrt(2.0));
  EXPECT_EQ(similarity("inner-product"), 24.0);
  const double warped = oracle::distance("dtw", request, 0, reference, 0);
  EXPECT_EQ(similarity("dtw"), 1.0 - warped / (1.0 + warped));
}

TEST(CrossDistances, RapidMinerSortsTheWholeTable) {
  const Table request = numbers({0.0, 10.0});
  const Table reference = numbers({1.0, 9.0, 4.0});
  PairwiseOptions options = with("euclidean");
  options.knn.compat = Compat::rapidminer;
  const std::vector<CrossDistance> table = cross_distances(request, reference, options);
  ASSERT_EQ(table.size(), 6U);
  EXPECT_TRUE(
      std::is_sorted(table.begin(), table.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; }));
  EXPECT_EQ(table[0].request, 0);
  EXPECT_EQ(table[1].request, 1);
  RunOptions run;
  run.memory_limit = 200;
  try {
    cross_distances(request, reference, options, run);
    FAIL() << "six sorted distances do not fit into 200 bytes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
  }
}

}  // namespace
}  // namespace stope
