// What a guest hands in by mistake, whatever the job: empty sinks, handles that nothing made, numbers that are no rows
// or leaves, lists and columns beyond the memory limit. Each is an Error with its code, before the work.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fault/job.hpp"
#include "stope/stope.hpp"

namespace stope {
namespace {

using every_job::for_regression;
using every_job::good_table;

void expect_error(const std::string& code, const std::string& part, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error, expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "no Error: " << error.what();
  }
}

TEST(Guests, EmptySinksAreRefusedByEveryJobThatTakesOne) {
  const Table good = good_table();
  const KnnIndex index = KnnIndex::fit(good);
  const KnnClassifier classifier = KnnClassifier::fit(good);
  const KnnRegressor regressor = KnnRegressor::fit(for_regression(good));
  const Predictor classes({outline(good), make_neighbors_model(good)});
  const Predictor numbers({outline(good), make_neighbors_model(for_regression(good))});
  const Predictor lists({outline(good), make_neighbors_model(features_only(good))});
  const SearchOptions search{.n_neighbors = 3};
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"kneighbors", [&] { index.kneighbors(good, search, {}, NeighborSink()); }},
      {"radius_neighbors", [&] { index.radius_neighbors(good, 1.0, search, {}, NeighborSink()); }},
      {"KnnClassifier", [&] { classifier.predict(good, {}, {}, ClassificationSink()); }},
      {"KnnRegressor", [&] { regressor.predict(good, {}, {}, RegressionSink()); }},
      {"Predictor::classify", [&] { classes.classify(good, {}, ClassificationSink()); }},
      {"Predictor::regress", [&] { numbers.regress(good, {}, RegressionSink()); }},
      {"Predictor::neighbors", [&] { lists.neighbors(good, {}, NeighborSink()); }},
      {"pairwise_distances",
       [&] { pairwise_distances(good, good, {}, {}, std::function<void(const PairwiseBlock&)>()); }},
      {"write_model", [&] { write_model(std::function<void(std::string_view)>(), classes.model()); }}};
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    expect_error("invalid_argument", "sink is empty", call);
  }
}

TEST(Guests, AnIndexThatNothingWasFittedToIsRefused) {
  const KnnIndex none;
  const Table good = good_table();
  const std::vector<std::function<void()>> calls = {[&] { none.n_samples(); },
                                                    [&] { none.n_features(); },
                                                    [&] { none.train(); },
                                                    [&] { none.release_devices(); },
                                                    [&] { none.kneighbors(good, {.n_neighbors = 1}); },
                                                    [&] { none.radius_neighbors(good, 1.0); },
                                                    [&] { KnnClassifier::fit(none, good.columns[4]); },
                                                    [&] { KnnRegressor::fit(none, good.columns[0]); },
                                                    [&] { KnnClassifier().predict(good); },
                                                    [&] { KnnRegressor().predict(good); }};
  for (const auto& call : calls) expect_error("invalid_argument", "has not been fitted", call);
}

TEST(Guests, LeavesThatAreNoNodesAreRefused) {
  const DecisionTree tree = DecisionTree::fit(good_table());
  const auto n_nodes = static_cast<std::int64_t>(tree.nodes().size());
  for (const std::int64_t leaf : {std::int64_t{-2}, n_nodes, INT64_MAX, INT64_MIN}) {
    const std::array<std::int64_t, 2> leaves = {0, leaf};
    expect_error("invalid_argument", "the leaf of row 1 is " + std::to_string(leaf), [&] { tree.classes_of(leaves); });
  }
  const std::array<std::int64_t, 2> known = {-1, n_nodes - 1};
  EXPECT_EQ(tree.classes_of(known).codes[0], kMissingCode);
}

TEST(Guests, FeaturesOfOneNameAreRefused) {
  Table twice = good_table();
  twice.columns[1].name = "x";
  Table numbers = for_regression(twice);
  numbers.columns[0].role = Role::regular;
  numbers.columns[6].role = Role::label;
  const Table good = good_table();
  const std::vector<std::function<void()>> calls = {
      [&] { KnnIndex::fit(twice); },
      [&] { KnnClassifier::fit(twice); },
      [&] { LinearModel::fit(numbers, {.nominal = NominalFeatures::skip}); },
      [&] { Pca::fit(twice, {.nominal = NominalFeatures::skip}); },
      [&] { Normalizer::fit(twice, {.method = Normalization::z}); },
      [&] { DecisionTree::fit(twice); },
      [&] { best_cuts(twice); },
      [&] { find_cuts(twice, {}); },
      [&] { feature_ranges(twice); },
      [&] { KnnIndex::fit(good).kneighbors(twice, {.n_neighbors = 1}); },
      [&] { DecisionTree::fit(good).predict(twice); }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    expect_error("invalid_argument", "two columns are named 'x'", calls[i]);
  }
}

TEST(Guests, ListsBeyondTheMemoryLimitAreRefusedBeforeTheSearch) {
  Table table;
  table.n_rows = 3000;
  table.columns = {make_numeric("x", std::vector<double>(3000, 1.0))};
  const KnnIndex index = KnnIndex::fit(table);
  const RunOptions small{.memory_limit = 20'000'000};
  expect_error("out_of_memory", "the lists of neighbours need 72024000 bytes",
               [&] { index.kneighbors(table, {.n_neighbors = 1500}, small); });
  expect_error("out_of_memory", "the lists of neighbours need", [&] { index.radius_neighbors(table, 1.0, {}, small); });
  EXPECT_EQ(index.kneighbors(table, {.n_neighbors = 2}, small).n_queries(), 3000);
}

TEST(Guests, RapidMinersKMayExceedTheRows) {
  KnnOptions rapidminer;
  rapidminer.compat = Compat::rapidminer;
  const Table good = good_table();
  Table many = good;
  for (int i = 0; i < 2; ++i) {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < many.n_rows * 20; ++row) rows.push_back(row % many.n_rows);
    many = many.take(rows);
  }
  const KnnIndex index = KnnIndex::fit(good, rapidminer);
  for (const std::int64_t k : {std::int64_t{13}, std::int64_t{1'000'000'000}}) {
    EXPECT_EQ(index.kneighbors(many, {.n_neighbors = k}).indices.size(), static_cast<std::size_t>(many.n_rows * 12));
  }
}

TEST(Guests, ArraysOfMoreColumnsThanMemoryHoldsAreRefused) {
  const double one = 1.0;
  const RunOptions small{.memory_limit = 10'000'000};
  const ArrayView wide{&one, ElementType::float64, 1, 3'000'000, 1, 0};
  expect_error("out_of_memory", "3000000 features need", [&] { KnnIndex::fit(wide, {}, small); });
  expect_error("out_of_memory", "3000000 columns need", [&] { describe(wide, {}, small); });
  const ArrayView endless{nullptr, ElementType::float64, 0, std::int64_t{1} << 40};
  expect_error("out_of_memory", "need", [&] { describe(endless); });
}

TEST(Guests, RowsWithoutColumnsTakeNoTime) {
  const ArrayView rows{nullptr, ElementType::float64, std::int64_t{1} << 62, 0};
  EXPECT_EQ(table_of(rows).n_rows, std::int64_t{1} << 62);
  TableBuilder builder({});
  builder.append(rows);
  expect_error("out_of_memory", "", [&] { builder.append(rows); });
  EXPECT_EQ(builder.n_rows(), std::int64_t{1} << 62);
}

TEST(Guests, AModelThatNobodyCouldReadIsNotWritten) {
  const Table good = good_table();
  const auto ignore = [](std::string_view) {};
  expect_error("invalid_argument", "outline()", [&] { write_model(ignore, {good, make_neighbors_model(good)}); });
  NeighborsModel none = make_neighbors_model(good);
  none.n_neighbors = 0;
  expect_error("invalid_argument", "n_neighbors is 0", [&] { write_model(ignore, {outline(good), none}); });
}

}  // namespace
}  // namespace stope
