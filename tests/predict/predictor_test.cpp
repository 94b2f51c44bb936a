// A predictor gives what the model's own job gives, in one piece and in blocks, to one thread and to many.
#include "stope/predictor.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "effort.hpp"
#include "environment.hpp"
#include "expect_error.hpp"
#include "predict/model_cases.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace testing_models;
using Gives = Predictor::Gives;

// k-NN without a label.
Model index_model() {
  Model model = neighbors_model(40);
  auto& neighbors = std::get<NeighborsModel>(model.fitted);
  neighbors.train = features_only(neighbors.train);
  return model;
}

TEST(Predictor, NeighboursVoteAsTheClassifierDoes) {
  const Model model = neighbors_model(40, true);
  const auto& fitted = std::get<NeighborsModel>(model.fitted);
  const Table test = mixed_table(23, true);
  const Classification expected = KnnClassifier::fit(fitted.train, fitted.options)
                                      .predict(fitted.normalizer.apply(test), {3, VoteWeights::distance, false, {}});
  const Predictor predictor(model);
  EXPECT_EQ(predictor.gives(), Gives::classes);
  EXPECT_EQ(predictor.classes(), (std::vector<std::string>{"a", "b", "c"}));
  SearchReport report;
  const Classification got = predictor.classify(test, {}, &report);
  EXPECT_EQ(got.codes, expected.codes);
  EXPECT_EQ(got.confidences, expected.confidences);
  EXPECT_GT(report.pairs, 0);
}

// Rows that are not among the 40 first ones.
Table later_rows(bool nominal_label) {
  std::vector<std::int64_t> rows(23);
  std::iota(rows.begin(), rows.end(), 40);
  return mixed_table(63, nominal_label).take(rows);
}

TEST(Predictor, NumbersAreThoseOfTheRegressorAndOfLeastSquares) {
  const Model model = neighbors_model(40, false);
  const auto& fitted = std::get<NeighborsModel>(model.fitted);
  const Table test = later_rows(false);
  const Predictor predictor(model);
  EXPECT_EQ(predictor.gives(), Gives::numbers);
  EXPECT_TRUE(predictor.classes().empty());
  EXPECT_EQ(predictor.regress(test),
            KnnRegressor::fit(fitted.train, fitted.options)
                .predict(fitted.normalizer.apply(test), {3, VoteWeights::distance, false, {}}));
  const Model linear = lsq_model();
  const Predictor line(linear);
  EXPECT_EQ(line.gives(), Gives::numbers);
  EXPECT_EQ(line.regress(numeric_table(15)), std::get<LinearModel>(linear.fitted).predict(numeric_table(15)));
}

TEST(Predictor, AnIndexFindsNeighbours) {
  const Model model = index_model();
  const auto& fitted = std::get<NeighborsModel>(model.fitted);
  const Table test = mixed_table(23, true);
  const Neighbors expected =
      KnnIndex::fit(fitted.train, fitted.options).kneighbors(fitted.normalizer.apply(test), {.n_neighbors = 3});
  const Predictor predictor(model);
  EXPECT_EQ(predictor.gives(), Gives::neighbors);
  const Neighbors got = predictor.neighbors(test);
  EXPECT_EQ(got.offsets, expected.offsets);
  EXPECT_EQ(got.indices, expected.indices);
  EXPECT_EQ(got.distances, expected.distances);
}

TEST(Predictor, TreesGiveTheSharesOfTheirLeaves) {
  const Model model = tree_model(300);
  const Table test = mixed_table(100, true);
  const Classification expected = std::get<DecisionTree>(model.fitted).predict(test);
  const Predictor predictor(model);
  EXPECT_EQ(predictor.classes(), expected.classes);
  EXPECT_EQ(predictor.classify(test).codes, expected.codes);
  EXPECT_EQ(predictor.classify(test).confidences, expected.confidences);
}

TEST(Predictor, ScoresCodesAndNormalisedColumnsAreTables) {
  const Table mixed = mixed_table(15, true);
  const Model pca = pca_model(), cuts = cuts_model(), normalizer = normalizer_model(), imputer = imputer_model();
  for (const Model& model : {pca, cuts, normalizer, imputer}) EXPECT_EQ(Predictor(model).gives(), Gives::table);
  expect_equal(Predictor(pca).transform(numeric_table(15)), std::get<Pca>(pca.fitted).transform(numeric_table(15)));
  const auto& coding = std::get<CutsModel>(cuts.fitted);
  expect_equal(Predictor(cuts).transform(mixed), apply_cuts(mixed, coding.cuts, coding.coding));
  expect_equal(Predictor(normalizer).transform(mixed), std::get<Normalizer>(normalizer.fitted).apply(mixed));
  expect_equal(Predictor(imputer).transform(mixed), std::get<Imputer>(imputer.fitted).apply(mixed));
}

TEST(Predictor, ListsOfSeveralBlocksFollowOneAnother) {
  const Predictor predictor(index_model());
  const Neighbors whole = predictor.neighbors(later_rows(true));
  const ForcedVariable blocks("STOPE_TILE_QUERIES", "5");
  std::int64_t n_blocks = 0;
  predictor.neighbors(later_rows(true), {}, [&](const Neighbors&) { ++n_blocks; });
  EXPECT_GT(n_blocks, 1);
  const Neighbors together = predictor.neighbors(later_rows(true));
  EXPECT_EQ(together.offsets, whole.offsets);
  EXPECT_EQ(together.indices, whole.indices);
  EXPECT_EQ(together.distances, whole.distances);
}

// 5,000 rows are more than one block of every kind.
TEST(Predictor, BlocksMakeTheWhole) {
  const Table test = mixed_table(5000, true);
  for (const Model& model : {neighbors_model(40), tree_model(50)}) {
    const Predictor predictor(model);
    const Classification whole = predictor.classify(test);
    Classification together;
    std::int64_t n_blocks = 0;
    predictor.classify(test, {}, [&](std::int64_t first, const Classification& block) {
      EXPECT_EQ(first, static_cast<std::int64_t>(together.codes.size()));
      together.codes.insert(together.codes.end(), block.codes.begin(), block.codes.end());
      together.confidences.insert(together.confidences.end(), block.confidences.begin(), block.confidences.end());
      ++n_blocks;
    });
    EXPECT_GT(n_blocks, 1);
    EXPECT_EQ(together.codes, whole.codes);
    EXPECT_EQ(together.confidences, whole.confidences);
  }
  for (const Model& model : {neighbors_model(40, false), lsq_model()}) {
    const Predictor predictor(model);
    const Table rows = model.columns.columns.size() == 6 ? test : numeric_table(5000);
    std::vector<double> together;
    predictor.regress(rows, {}, [&](std::int64_t first, std::span<const double> block) {
      EXPECT_EQ(first, static_cast<std::int64_t>(together.size()));
      together.insert(together.end(), block.begin(), block.end());
    });
    EXPECT_EQ(together, predictor.regress(rows));
  }
}

TEST(Predictor, RefusesWhatTheModelDoesNotGive) {
  const Table test = mixed_table(5, true);
  const auto refuses = [](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  for (const Model& model : small_models()) {
    const Predictor predictor(model);
    const Gives gives = predictor.gives();
    EXPECT_EQ(gives != Gives::classes, refuses([&] { predictor.classify(test); })) << model.kind();
    EXPECT_TRUE(gives == Gives::numbers || refuses([&] { predictor.regress(test); })) << model.kind();
    EXPECT_TRUE(gives == Gives::neighbors || refuses([&] { predictor.neighbors(test); })) << model.kind();
    EXPECT_TRUE(gives == Gives::table || refuses([&] { predictor.transform(test); })) << model.kind();
  }
}

TEST(Predictor, ManyThreadsShareOne) {
  const Table test = mixed_table(400, true);
  const Predictor predictor(neighbors_model(40));
  const Classification whole = predictor.classify(test);
  std::vector<std::int32_t> codes(static_cast<std::size_t>(test.n_rows));
  std::vector<std::thread> threads;
  for (std::int64_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<std::int64_t> rows(50);
      std::iota(rows.begin(), rows.end(), thread * 50);
      const Classification block = Predictor(predictor).classify(test.take(rows), {.threads = 1});
      std::copy(block.codes.begin(), block.codes.end(), codes.begin() + thread * 50);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(codes, whole.codes);
}

// What a model gives for some rows, as numbers.
std::vector<double> given(const Predictor& predictor, const Table& rows) {
  const RunOptions run{.threads = 1};
  if (predictor.gives() == Gives::numbers) return predictor.regress(rows, run);
  if (predictor.gives() == Gives::neighbors) return predictor.neighbors(rows, run).distances;
  if (predictor.gives() == Gives::classes) {
    const Classification found = predictor.classify(rows, run);
    return {found.codes.begin(), found.codes.end()};
  }
  const Table made = predictor.transform(rows, run);
  std::vector<double> numbers;
  for (const Column& column : made.columns) {
    for (std::int64_t row = 0; row < made.n_rows; ++row) numbers.push_back(column.at(row));
  }
  return numbers;
}

TEST(Predictor, SixteenThreadsCallOneAThousandTimes) {
  for (const Model& model : small_models()) {
    SCOPED_TRACE(model.kind());
    const Predictor predictor(model);
    const Table mixed = mixed_table(64, true), numeric = numeric_table(64);
    const Table& test = model.columns.find("colour") >= 0 ? mixed : numeric;
    std::vector<Table> rows;
    std::vector<std::vector<double>> expected;
    for (std::int64_t row = 0; row < test.n_rows; ++row) {
      rows.push_back(test.take({row}));
      expected.push_back(given(predictor, rows.back()));
    }
    std::vector<int> wrong(16, 0);
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < wrong.size(); ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t call = 0; call < repeated(std::size_t{1000}, std::size_t{100}); ++call) {
          const std::size_t row = (call * 7 + thread) % rows.size();
          const std::vector<double> got = given(predictor, rows[row]);
          wrong[thread] += got.size() == expected[row].size() &&
                                   std::memcmp(got.data(), expected[row].data(), got.size() * sizeof(double)) == 0
                               ? 0
                               : 1;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(16, 0));
  }
}

TEST(NeighborsModel, NormalisesTheTableAndMovesTheWeights) {
  Table table = mixed_table(30, true);
  std::swap(table.columns[0], table.columns[2]);  // colour, id, x, y, w, class
  const KnnOptions knn{.feature_weights = {5.0, 1.0, 2.0}, .compat = Compat::rapidminer};
  const NormalizeOptions normalize{.method = Normalization::z, .compat = Compat::rapidminer};
  const NeighborsModel model = make_neighbors_model(table, knn, normalize, {.n_neighbors = 4});
  std::vector<std::string> names;
  for (const std::int64_t feature : model.train.features()) {
    names.push_back(model.train.columns[static_cast<std::size_t>(feature)].name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"x", "y", "colour"}));
  EXPECT_EQ(model.options.feature_weights, (std::vector<double>{1.0, 2.0, 5.0}));
  EXPECT_EQ(model.n_neighbors, 4);
  expect_equal(model.train, Normalizer::fit(table, normalize).apply(table));
  expect_error(ErrorCode::invalid_argument, "k = 0 is not at least 1",
               [&] { make_neighbors_model(table, {}, {}, {.n_neighbors = 0}); });
}

TEST(NeighborsModel, WithoutANormalisationItSharesTheTable) {
  const Table table = mixed_table(30, true);
  const NeighborsModel model = make_neighbors_model(table);
  EXPECT_EQ(std::get<Buffer<double>>(model.train.columns[0].data).data(),
            std::get<Buffer<double>>(table.columns[0].data).data());
  EXPECT_TRUE(model.classifies());
  const Table alone = features_only(table);
  EXPECT_EQ(alone.find(Role::label), -1);
  EXPECT_EQ(alone.features(), table.features());
}

TEST(Predictor, EmptySinksAndVotesOfOtherModelsAreRefusedAndNamed) {
  const Table test = mixed_table(5, true);
  const Predictor classes(neighbors_model(8, true)), numbers(neighbors_model(8, false)), tree(tree_model());
  const auto code_of = [](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of([&] { classes.classify(test, {}, ClassificationSink()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { numbers.regress(test, {}, RegressionSink()); }), ErrorCode::invalid_argument);
  const Predictor line(lsq_model());
  EXPECT_EQ(code_of([&] { line.regress(numeric_table(5), {}, RegressionSink()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { tree.with_vote(3, VoteWeights::uniform); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { classes.with_vote(0, VoteWeights::uniform); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stope
