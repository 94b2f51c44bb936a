// Training tables in parts (stope/knn_parts.hpp): the merged lists of indices of parts are those of one index of the
// whole, bit for bit. Ranges are those of the whole; what cannot be merged is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "effort.hpp"
#include "knn/answers.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "stope/metric.hpp"

namespace stope {
namespace {

using oracle::TableShape;

// Rows [begin, end) of a table.
Table slice(const Table& table, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return table.take(rows);
}

// Where the parts begin; the last entry is n.
std::vector<std::int64_t> random_cuts(Random& random, std::int64_t n) {
  std::vector<std::int64_t> cuts = {0, n};
  for (std::uint64_t i = random.below(6); i > 0; --i) {
    cuts.push_back(1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n - 1))));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

// Lists of every part, with indices of the whole table.
template <class Search>
std::vector<Neighbors> lists_of_parts(const Table& table, const std::vector<std::int64_t>& cuts, KnnOptions options,
                                      const Search& search) {
  options.ranges = feature_ranges(slice(table, 0, cuts[1]));
  for (std::size_t i = 1; i + 1 < cuts.size(); ++i) {
    options.ranges = join(options.ranges, feature_ranges(slice(table, cuts[i], cuts[i + 1])));
  }
  std::vector<Neighbors> lists;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    lists.push_back(search(KnnIndex::fit(slice(table, cuts[i], cuts[i + 1]), options)));
    for (std::int64_t& index : lists.back().indices) index += cuts[i];
  }
  return lists;
}

// A table that a measure accepts, and one of queries.
TableShape shape_for(const MetricInfo& metric, Random& random) {
  const bool one = metric.name == "itakura-saito" || metric.name == "logarithmic-loss" ||
                   metric.name == "logistic-loss" || metric.name == "squared-loss";
  TableShape shape{.n_rows = 2 + static_cast<std::int64_t>(random.below(150)),
                   .n_numeric = metric.accepts == Accepts::nominal ? 0
                                : one                              ? 1
                                : metric.name == "haversine"       ? 2
                                                                   : 3,
                   .n_nominal = metric.accepts == Accepts::numeric ? 0 : 3,
                   .missing = random.below(2) == 0 ? 0.1 : 0.0,
                   .values = random.below(2) == 0 ? TableShape::Values::open_unit : TableShape::Values::few,
                   .binominal = true};
  const bool divergence = metric.name == "generalized-i" || metric.name == "kl" || one;
  if (divergence) shape.values = TableShape::Values::open_unit;
  return shape;
}

TEST(Parts, MergedListsOfPartsAreThoseOfTheWholeTableForEveryMeasure) {
  Random random(91);
  for (const MetricInfo& metric : metrics()) {
    if (metric.name == "mahalanobis") continue;
    SCOPED_TRACE(metric.name);
    for (int round = 0; round < repeated(12, 4); ++round) {
      TableShape shape = shape_for(metric, random);
      const Table table = oracle::random_table(random, shape);
      shape.n_rows = 1 + static_cast<std::int64_t>(random.below(40));
      const Table query = oracle::random_table(random, shape);
      const KnnOptions options{.metric = {std::string(metric.name), {}}};
      const KnnIndex whole = KnnIndex::fit(table, options);
      const std::vector<std::int64_t> cuts = random_cuts(random, table.n_rows);
      const auto k = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(table.n_rows)));
      const std::vector<Neighbors> nearest = lists_of_parts(table, cuts, options, [&](const KnnIndex& part) {
        return part.kneighbors(query, {.n_neighbors = std::min(k, part.n_samples())});
      });
      ASSERT_NO_FATAL_FAILURE(expect_same(merge_neighbors(nearest, k), whole.kneighbors(query, {.n_neighbors = k})));
      const std::vector<Neighbors> within =
          lists_of_parts(table, cuts, options, [&](const KnnIndex& part) { return part.radius_neighbors(query, 0.7); });
      ASSERT_NO_FATAL_FAILURE(expect_same(merge_neighbors(within, 0), whole.radius_neighbors(query, 0.7)));
    }
  }
}

TEST(Parts, RangesAreThoseOfThePresentNumbers) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Table table;
  table.n_rows = 3;
  table.columns = {make_numeric("a", {2.0, nan, -1.0}), make_nominal("n", {0, 0, 0}, {"x"}),
                   make_numeric("b", {nan, nan, nan}), make_numeric("c", {1.0, 2.0, 3.0})};
  table.columns[3].role = Role::label;
  const FeatureRanges ranges = feature_ranges(table);
  ASSERT_EQ(ranges.features.size(), 2u);
  EXPECT_EQ(ranges.features[0].name, "a");
  EXPECT_EQ(ranges.features[0].low, -1.0);
  EXPECT_EQ(ranges.features[0].high, 2.0);
  EXPECT_EQ(ranges.features[1].low, infinity);
  EXPECT_EQ(ranges.features[1].high, -infinity);
  table.columns[2] = make_numeric("b", {nan, 5.0, nan});
  const FeatureRanges joined = join(ranges, feature_ranges(table));
  EXPECT_EQ(joined.features[1].low, 5.0);
  EXPECT_EQ(joined.features[1].high, 5.0);
}

void expect_refused(const std::function<void()>& call, ErrorCode code, const std::string& words) {
  try {
    call();
    FAIL() << "not refused: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Parts, WhatCannotBeMergedIsRefused) {
  Random random(92);
  const Table table = oracle::random_table(random, {.n_rows = 40, .n_numeric = 2});
  const FeatureRanges ranges = feature_ranges(table);
  const auto fit = [&](KnnOptions options) {
    options.ranges = ranges;
    KnnIndex::fit(table, options);
  };
  expect_refused([&] { fit({.metric = {"mahalanobis", {}}}); }, ErrorCode::unsupported, "mahalanobis");
  expect_refused([&] { fit({.compat = Compat::rapidminer}); }, ErrorCode::unsupported, "RapidMiner");
  FeatureRanges narrow = ranges, few = ranges;
  narrow.features[1].high = narrow.features[1].low;
  few.features.pop_back();
  constexpr auto kArgument = ErrorCode::invalid_argument;
  expect_refused([&] { KnnIndex::fit(table, {.ranges = narrow}); }, kArgument, "'x1' has values from");
  expect_refused([&] { KnnIndex::fit(table, {.ranges = few}); }, kArgument, "none of the feature 'x1'");
  expect_refused([&] { (void)join(ranges, few); }, kArgument, "different numeric features");
}

TEST(Parts, ListsThatDoNotFitTogetherAreRefused) {
  Neighbors one;
  one.offsets = {0, 2};
  one.indices = {4, 1};
  one.distances = {0.5, 0.5};
  Neighbors two = one;
  two.indices = {-1, 0};  // an entry that pads a list
  const std::vector<Neighbors> good = {one, two};
  const Neighbors merged = merge_neighbors(good, 2);
  EXPECT_EQ(merged.indices, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(merged.offsets, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(merge_neighbors(good, 0).indices, (std::vector<std::int64_t>{0, 1, 4}));
  EXPECT_EQ(merge_neighbors({}, 3).n_queries(), 0);
  const auto refused = [&](const std::function<void(Neighbors&)>& change, const std::string& words) {
    std::vector<Neighbors> parts = good;
    change(parts[1]);
    expect_refused([&] { merge_neighbors(parts, 2); }, ErrorCode::invalid_argument, words);
  };
  refused([](Neighbors& lists) { lists.offsets = {0, 1, 2}; }, "2 queries from query 0 on, part 0 those of 1");
  refused([](Neighbors& lists) { lists.first_query = 5; }, "from query 5 on");
  refused([](Neighbors& lists) { lists.offsets = {0, 3}; }, "beyond the 2 entries");
  refused([](Neighbors& lists) { lists.offsets = {-1, 2}; }, "do not begin");
  refused([](Neighbors& lists) { lists.offsets = {1, 0}; }, "fall");
  refused([](Neighbors& lists) { lists.distances.pop_back(); }, "as many indices as distances");
  expect_refused([&] { merge_neighbors(good, -1); }, ErrorCode::invalid_argument, "n_neighbors = -1");
}

}  // namespace
}  // namespace stope
