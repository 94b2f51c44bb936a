// Compares every measure of the table with the slow oracle: bit for bit where the arithmetic is + - * / sqrt in
// attribute order, to 1e-12 where a logarithm, exponential, power or angle is involved.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "base/random.hpp"
#include "base/row_sums.hpp"
#include "knn/measure/fit.hpp"
#include "oracle/measure_oracle.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn_pairwise.hpp"

namespace stope {
namespace {

using oracle::TableShape;

const std::set<std::string> kTranscendental = {
    "minkowski", "cosine-similarity", "haversine",        "mahalanobis",   "generalized-i",
    "kl",        "itakura-saito",     "logarithmic-loss", "logistic-loss", "kernel-euclidean"};
const std::set<std::string> kOneAttribute = {"itakura-saito", "logarithmic-loss", "logistic-loss", "squared-loss"};
const std::set<std::string> kNeedsUnit = {"generalized-i", "kl", "itakura-saito", "logarithmic-loss", "logistic-loss"};
const std::set<std::string> kUnweighted = {"dtw", "haversine", "mahalanobis"};

TableShape shape_for(const MetricInfo& info, Random& random, std::int64_t n_rows, TableShape::Values values) {
  const std::string name(info.name);
  TableShape shape;
  shape.n_rows = n_rows;
  shape.values = kNeedsUnit.contains(name) ? TableShape::Values::open_unit : values;
  shape.missing = name == "mahalanobis" ? 0.0 : static_cast<double>(random.below(3)) * 0.2;
  const int width = 1 + static_cast<int>(random.below(7));
  shape.n_numeric = info.accepts == Accepts::nominal ? 0 : width;
  shape.n_nominal = info.accepts == Accepts::numeric ? 0 : 1 + static_cast<int>(random.below(4));
  shape.binominal = random.below(2) == 0;
  if (kOneAttribute.contains(name)) shape.n_numeric = 1;
  if (name == "haversine") shape.n_numeric = 2;
  if (name == "mahalanobis" || name == "haversine") shape.values = TableShape::Values::uniform;
  // inf - inf in a cost matrix leaves no smallest neighbour for the path.
  if (name == "dtw" && shape.values == TableShape::Values::wild) shape.values = TableShape::Values::few;
  return shape;
}

bool same(double ours, double expected, bool transcendental) {
  if (std::isnan(ours) || std::isnan(expected)) return std::isnan(ours) && std::isnan(expected);
  if (!transcendental) return std::bit_cast<std::uint64_t>(ours) == std::bit_cast<std::uint64_t>(expected);
  if (ours == expected) return true;
  return std::fabs(ours - expected) <= 1e-12 * std::max({1.0, std::fabs(ours), std::fabs(expected)});
}

std::vector<double> all_distances(const Table& train, const Table& query, const PairwiseOptions& options) {
  // A search, as the oracle, passes the training row first; Cross Distances would pass the request first. With k = n
  // the lists have every distance.
  const KnnIndex index = KnnIndex::fit(train, options.knn);
  const Neighbors lists = index.kneighbors(query, {.n_neighbors = train.n_rows});
  std::vector<double> values(static_cast<std::size_t>(train.n_rows * query.n_rows));
  for (std::int64_t i = 0; i < query.n_rows; ++i) {
    for (std::int64_t j = lists.offsets[static_cast<std::size_t>(i)];
         j < lists.offsets[static_cast<std::size_t>(i) + 1]; ++j) {
      values[static_cast<std::size_t>(i * train.n_rows + lists.indices[static_cast<std::size_t>(j)])] =
          lists.distances[static_cast<std::size_t>(j)];
    }
  }
  return values;
}

class MeasureTest : public testing::TestWithParam<std::string> {};

TEST_P(MeasureTest, AgreesWithTheOracle) {
  const MetricInfo& info = find_metric(GetParam());
  const std::string name(info.name);
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const auto values = static_cast<TableShape::Values>(round % 3);
    const TableShape shape = shape_for(info, random, name == "mahalanobis" ? 20 : 1 + round % 13, values);
    const Table train = oracle::random_table(random, shape);
    TableShape query_shape = shape;
    query_shape.n_rows = 5;
    const Table query = oracle::random_table(random, query_shape);
    PairwiseOptions options;
    options.knn.metric.name = name;
    if (name == "minkowski") options.knn.metric.params["p"] = "3";
    if (round % 2 == 1 && !kUnweighted.contains(name)) {
      for (std::size_t c = 0; c < train.columns.size(); ++c) {
        options.knn.feature_weights.push_back(0.25 * static_cast<double>(1 + random.below(8)));
      }
    }
    const std::vector<double> ours = all_distances(train, query, options);
    for (std::int64_t i = 0; i < query.n_rows; ++i) {
      for (std::int64_t j = 0; j < train.n_rows; ++j) {
        const double expected = oracle::distance(name, train, j, query, i, options.knn.feature_weights);
        const double got = ours[static_cast<std::size_t>(i * train.n_rows + j)];
        ASSERT_TRUE(same(got, expected, kTranscendental.contains(name)))
            << name << " round " << round << " query " << i << " row " << j << ": " << got << " != " << expected;
      }
    }
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const MetricInfo& info : metrics()) names.emplace_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, MeasureTest, testing::ValuesIn(all_names()), [](const auto& param_info) {
  std::string name = param_info.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
});

Table numbers(const std::vector<double>& values) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(values.size());
  table.columns.push_back(make_numeric("x", values));
  return table;
}

TEST(Measures, AWeightOfZeroDropsTheAttribute) {
  Table table = numbers({1.0, 2.0});
  table.columns.push_back(make_numeric("y", {std::numeric_limits<double>::infinity(), 0.0}));
  KnnOptions options;
  options.metric.name = "euclidean";
  options.feature_weights = {1.0, 0.0};
  const KnnIndex index = KnnIndex::fit(table, options);
  EXPECT_EQ(index.n_features(), 1);
  EXPECT_EQ(index.kneighbors(table, {.n_neighbors = 2}).distances, (std::vector<double>{0.0, 1.0, 0.0, 1.0}));
}

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(Measures, RefusesWhatAMeasureCannotTake) {
  const auto fit = [](const Table& table, Metric metric, std::vector<double> weights = {}) {
    return code_of([&] { KnnIndex::fit(table, {std::move(metric), std::move(weights), Compat::none}); });
  };
  const Table two = numbers({1.0, 2.0});
  Table nominal;
  nominal.n_rows = 1;
  nominal.columns.push_back(make_nominal("s", {0}, {"a"}));
  EXPECT_EQ(fit(nominal, {"euclidean", {}}), ErrorCode::unsupported);
  EXPECT_EQ(fit(two, {"nominal-distance", {}}), ErrorCode::unsupported);
  EXPECT_EQ(fit(two, {"haversine", {}}), ErrorCode::unsupported);
  EXPECT_EQ(fit(numbers({1.0, 0.0}), {"itakura-saito", {}}), ErrorCode::unsupported);
  EXPECT_EQ(fit(numbers({0.5, 1.0}), {"logistic-loss", {}}), ErrorCode::unsupported);
  EXPECT_EQ(fit(numbers({3.0, 3.0}), {"mahalanobis", {}}), ErrorCode::unsupported);
  EXPECT_EQ(fit(two, {"minkowski", {{"p", "0"}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(fit(two, {"minkowski", {{"p", "x"}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(fit(two, {"minkowski", {{"q", "2"}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(fit(two, {"kernel-euclidean", {{"kernel_type", "radail"}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(fit(two, {"euclidean", {}}, {-1.0}), ErrorCode::invalid_argument);
  EXPECT_EQ(fit(two, {"euclidean", {}}, {1.0, 1.0}), ErrorCode::invalid_argument);
  EXPECT_EQ(fit(two, {"euclidean", {}}, {std::nan("")}), ErrorCode::invalid_argument);
  EXPECT_EQ(fit(two, {"mahalanobis", {}}, {2.0}), ErrorCode::invalid_argument);
  EXPECT_EQ(fit(two, {"euclidean", {}}, {0.0}), ErrorCode::invalid_data);
}

TEST(Measures, CovariancesHaveTheAlignedShapeForBlocksOfAnySize) {
  constexpr std::int64_t kWidth = 3, kRows = 21'000;  // five groups and a ragged one
  Random random(5);
  std::vector<double> rows(kRows * kWidth);
  for (double& v : rows) v = 1e3 + std::ldexp(random.uniform(), static_cast<int>(random.below(20)));
  const std::vector<knn::Attribute> attributes(kWidth);
  const auto at = [&](std::int64_t row, std::int64_t j) { return rows[static_cast<std::size_t>(row * kWidth + j)]; };
  for (const std::int64_t block : {std::int64_t{777}, std::int64_t{4096}, kRows}) {
    const knn::RowVisitor visit = [&](const std::function<void(const double*, std::int64_t)>& use) {
      for (std::int64_t row = 0; row < kRows; row += block)
        use(&rows[static_cast<std::size_t>(row * kWidth)], std::min(block, kRows - row));
    };
    const std::vector<double> got = knn::covariance({{}, attributes, visit, kRows, Compat::none, {}});
    for (std::int64_t i = 0; i < kWidth; ++i) {
      for (std::int64_t j = 0; j < kWidth; ++j) {
        const auto mean = [&](std::int64_t of) {
          return sum_over_rows(0, kRows, [&](std::int64_t row) { return at(row, of); }) / kRows;
        };
        const double x = mean(i), y = mean(j);
        const double sum =
            sum_over_rows(0, kRows, [&](std::int64_t row) { return (at(row, i) - x) * (at(row, j) - y); });
        EXPECT_EQ(got[static_cast<std::size_t>(i * kWidth + j)], sum / (kRows - 1)) << i << " " << j;
      }
    }
  }
}

// Distances of all pairs of a table's rows. The request is the measure's first argument.
std::vector<double> all_pairs(const Table& request, const Table& reference, const MetricInfo& info) {
  PairwiseOptions options;
  options.knn.metric.name = std::string(info.name);
  std::vector<double> distances;
  pairwise_distances(request, reference, options, {}, [&](const PairwiseBlock& block) {
    distances.insert(distances.end(), block.values, block.values + block.n_requests * block.n_reference);
  });
  return distances;
}

// Rows that every measure takes, and for which none of them is 0/0: values are above 0 and below 1, and no two are
// equal but for nominal codes.
Table table_for(const MetricInfo& info, std::int64_t n_rows, double factor, bool with_missing) {
  const std::set<std::string> one = {"itakura-saito", "logarithmic-loss", "logistic-loss", "squared-loss"};
  const int width = one.count(std::string(info.name)) > 0 ? 1 : info.name == "haversine" ? 2 : 4;
  Random random(77);
  Table table;
  table.n_rows = n_rows;
  for (int j = 0; j < width; ++j) {
    const bool nominal = info.accepts == Accepts::nominal || (info.accepts == Accepts::mixed && j == 2);
    std::vector<double> numbers;
    std::vector<std::int32_t> codes;
    for (std::int64_t row = 0; row < n_rows; ++row) {
      numbers.push_back((0.1 + 0.8 * random.uniform()) * (j == 0 ? factor : 1.0));
      codes.push_back(static_cast<std::int32_t>(random.below(3)));
    }
    if (with_missing && j == 0) numbers[0] = std::nan(""), codes[0] = kMissingCode;
    const std::string name = "a" + std::to_string(j);
    table.columns.push_back(nominal ? make_nominal(name, codes, {"x", "y", "z"}) : make_numeric(name, numbers));
  }
  return table;
}

TEST(Measures, WhatTheTableSaysOfSymmetryIsSo) {
  for (const MetricInfo& info : metrics()) {
    const Table table = table_for(info, 12, 1.0, false);
    const std::vector<double> there = all_pairs(table, table, info);
    bool symmetric = true;
    for (std::size_t i = 0; i < 12; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        ASSERT_FALSE(std::isnan(there[i * 12 + j])) << info.name;
        symmetric = symmetric && there[i * 12 + j] == there[j * 12 + i];
      }
    }
    EXPECT_EQ(info.symmetric, symmetric) << info.name;
  }
}

TEST(Measures, WhatTheTableSaysOfMissingValuesIsSo) {
  for (const MetricInfo& info : metrics()) {
    const Table train = table_for(info, 12, 1.0, false), query = table_for(info, 12, 1.0, true);
    const std::vector<double> distances = all_pairs(query, train, info);
    for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(info.allows_missing, !std::isnan(distances[j])) << info.name;
  }
}

TEST(Measures, WhatTheTableSaysOfUnitsIsSo) {
  for (const MetricInfo& info : metrics()) {
    if (info.name == "haversine") {  // it prescribes them
      EXPECT_TRUE(info.scales_itself);
      continue;
    }
    const double factor = info.name == "logistic-loss" ? 0.5 : 7.0;
    const Table table = table_for(info, 12, 1.0, false), scaled = table_for(info, 12, factor, false);
    const std::vector<double> before = all_pairs(table, table, info), after = all_pairs(scaled, scaled, info);
    bool same = true;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool equal = after[i] == before[i];  // infinities, too
      same = same && (equal || std::fabs(after[i] - before[i]) <= 1e-9 * (std::fabs(before[i]) + 1e-3));
    }
    EXPECT_EQ(info.scales_itself, same) << info.name;
  }
}

TEST(Measures, NamesAndAliases) {
  EXPECT_EQ(find_metric("MixedEuclideanDistance").name, "mixed-euclidean");
  EXPECT_EQ(find_metric("Nominal.DiceSimilarity").name, "nominal-dice");
  EXPECT_EQ(find_metric("Numerical.DiceSimilarity").name, "dice-similarity");
  EXPECT_EQ(find_metric("l1").name, "manhattan");
  EXPECT_EQ(find_metric("nan_euclidean").name, "nan-euclidean");
  for (const char* bad :
       {"DiceSimilarity", "JaccardSimilarity", "euclidian", "", "Mixed.", "Numerical.NominalDistance"}) {
    EXPECT_EQ(code_of([&] { find_metric(bad); }), ErrorCode::invalid_argument) << bad;
  }
  try {
    find_metric("euclidian");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'euclidean'"), std::string::npos) << error.what();
  }
}

TEST(Measures, MinkowskiOfOneTwoAndInfinityHasTheBitsOfTheNamedMeasures) {
  Random random(3);
  const Table train = oracle::random_table(random, {.n_rows = 40, .n_numeric = 5, .missing = 0.1});
  const auto distances = [&](Metric metric) {
    return KnnIndex::fit(train, {std::move(metric), {}, Compat::none}).kneighbors(train, {.n_neighbors = 40}).distances;
  };
  EXPECT_EQ(distances({"minkowski", {{"p", "1"}}}), distances({"manhattan", {}}));
  EXPECT_EQ(distances({"minkowski", {}}), distances({"euclidean", {}}));
  EXPECT_EQ(distances({"minkowski", {{"p", "inf"}}}), distances({"chebyshev", {}}));
}

}  // namespace
}  // namespace stope
