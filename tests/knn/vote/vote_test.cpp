// The vote: formulas, ties, missing labels, sample weights, several k from one search.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include "knn/vote/vote_cases.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

Table labelled(const std::vector<double>& x, const std::vector<std::int32_t>& labels,
               std::vector<std::string> classes = {"a", "b", "c"}) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(x.size());
  table.columns.push_back(make_numeric("x", x));
  table.columns.push_back(make_nominal("y", labels, std::move(classes)));
  table.columns[1].role = Role::label;
  return table;
}

Table queries(const std::vector<double>& x) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(x.size());
  table.columns.push_back(make_numeric("x", x));
  return table;
}

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

KnnOptions rapidminer() {
  KnnOptions options;
  options.compat = Compat::rapidminer;
  return options;
}

TEST(Vote, UniformSharesAndTheFirstClassWinsATie) {
  const KnnClassifier model = KnnClassifier::fit(labelled({0.0, 1.0, 2.0, 9.0}, {1, 0, 2, 0}));
  const Classification three = model.predict(queries({1.0}), {.n_neighbors = 3});
  EXPECT_EQ(three.confidences, (std::vector<double>{1.0 / 3, 1.0 / 3, 1.0 / 3}));
  EXPECT_EQ(three.codes, std::vector<std::int32_t>{0});
  EXPECT_EQ(three.classes, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Vote, InverseDistanceAndZeroDistancesShareAllTheWeight) {
  const KnnClassifier model = KnnClassifier::fit(labelled({0.0, 0.0, 2.0, 4.0}, {0, 1, 2, 2}));
  const VoteOptions vote{.n_neighbors = 4, .weights = VoteWeights::distance};
  EXPECT_EQ(model.predict(queries({0.0}), vote).confidences, (std::vector<double>{0.5, 0.5, 0.0}));
  // At 1 the distances are 1, 1, 1, 3.
  const std::vector<double> confidences = model.predict(queries({1.0}), vote).confidences;
  const double total = 1.0 + 1.0 + 1.0 + 1.0 / 3.0;
  EXPECT_EQ(confidences, (std::vector<double>{1.0 / total, 1.0 / total, (1.0 + 1.0 / 3.0) / total}));
}

TEST(Vote, NeighboursWithoutAUsableDistanceWeighNothing) {
  const KnnClassifier model = KnnClassifier::fit(labelled({0.0, std::nan("")}, {0, 1}));
  const VoteOptions vote{.n_neighbors = 2, .weights = VoteWeights::distance};
  const Classification seen = model.predict(queries({3.0}), vote);
  EXPECT_EQ(seen.confidences, (std::vector<double>{1.0, 0.0, 0.0}));
  const Classification nothing = model.predict(queries({std::nan("")}), vote);
  EXPECT_EQ(nothing.codes, std::vector<std::int32_t>{kMissingCode});
  EXPECT_TRUE(std::isnan(nothing.confidences[0]));
}

// The NaN of 0/0 differs from CPU to CPU.
TEST(Vote, ANaNInAPredictionHasOnePattern) {
  Table train = labelled({0.0, 1.0}, {0, 1});
  train.columns.push_back(make_numeric("w", {0.0, 0.0}));
  train.columns[2].role = Role::weight;
  for (const double confidence : KnnClassifier::fit(train).predict(queries({1.0}), {.n_neighbors = 2}).confidences) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(confidence), 0x7ff8000000000000U);
  }
  train.columns[1] = make_numeric("y", {3.0, 4.0});
  train.columns[1].role = Role::label;
  const double mean = KnnRegressor::fit(train).predict(queries({1.0}), {.n_neighbors = 2}).front();
  EXPECT_EQ(std::bit_cast<std::uint64_t>(mean), 0x7ff8000000000000U);
}

TEST(Vote, SubnormalDistancesDoNotOverflow) {
  const KnnClassifier model = KnnClassifier::fit(labelled({5e-324, 1.0}, {1, 0}));
  const VoteOptions vote{.n_neighbors = 2, .weights = VoteWeights::distance};
  // The square of the difference underflows to zero under the default metric; manhattan keeps it.
  KnnOptions options;
  options.metric.name = "manhattan";
  const KnnClassifier manhattan = KnnClassifier::fit(labelled({5e-324, 1.0}, {1, 0}), options);
  EXPECT_EQ(manhattan.predict(queries({0.0}), vote).confidences, (std::vector<double>{0.0, 1.0, 0.0}));
  EXPECT_EQ(model.predict(queries({0.0}), vote).confidences, (std::vector<double>{0.0, 1.0, 0.0}));
}

TEST(Vote, ANegativeDistanceHasNoInverseWeight) {
  KnnOptions options;
  options.metric.name = "inner-product";
  const KnnClassifier model = KnnClassifier::fit(labelled({1.0, 2.0}, {0, 1}), options);
  EXPECT_EQ(code_of([&] { model.predict(queries({1.0}), {.n_neighbors = 1, .weights = VoteWeights::distance}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(model.predict(queries({1.0}), {.n_neighbors = 1}).codes, std::vector<std::int32_t>{1});
}

TEST(Vote, SampleWeightsMultiplyVotesExceptForRapidMiner) {
  Table train = labelled({0.0, 1.0, 2.0}, {0, 1, 1});
  train.columns.push_back(make_numeric("w", {5.0, 1.0, 0.0}));
  train.columns[2].role = Role::weight;
  const VoteOptions three{.n_neighbors = 3};
  EXPECT_EQ(KnnClassifier::fit(train).predict(queries({1.0}), three).confidences,
            (std::vector<double>{5.0 / 6.0, 1.0 / 6.0, 0.0}));
  const double third = 1.0 / 3.0;
  EXPECT_EQ(KnnClassifier::fit(train, rapidminer()).predict(queries({1.0}), three).confidences,
            (std::vector<double>{third, third + third, 0.0}));
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    train.columns[2] = make_numeric("w", {1.0, bad, 1.0});
    train.columns[2].role = Role::weight;
    EXPECT_EQ(code_of([&] { KnnClassifier::fit(train); }), ErrorCode::invalid_data);
  }
}

TEST(Vote, MissingTrainingLabels) {
  const Table train = labelled({0.0, 1.0}, {1, kMissingCode});
  EXPECT_EQ(code_of([&] { KnnClassifier::fit(train); }), ErrorCode::invalid_data);
  EXPECT_EQ(KnnClassifier::fit(train, rapidminer()).predict(queries({1.0}), {.n_neighbors = 1}).codes,
            std::vector<std::int32_t>{0});
}

TEST(Vote, LabelsOfTheWrongKind) {
  Table numeric = queries({1.0, 2.0});
  EXPECT_EQ(code_of([&] { KnnClassifier::fit(numeric); }), ErrorCode::invalid_argument);
  numeric.columns.push_back(make_numeric("y", {1.0, 2.0}));
  numeric.columns[1].role = Role::label;
  EXPECT_EQ(code_of([&] { KnnClassifier::fit(numeric); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { KnnRegressor::fit(labelled({1.0}, {0})); }), ErrorCode::unsupported);
}

TEST(Vote, RapidMinersWeightedVote) {
  // Distances 0, 1, 3 (k = 3): T = 4, S = 2.
  const KnnClassifier model = KnnClassifier::fit(labelled({0.0, 1.0, 3.0}, {0, 1, 1}), rapidminer());
  const VoteOptions weighted{.n_neighbors = 3, .weights = VoteWeights::distance};
  const std::vector<double> confidences = model.predict(queries({0.0}), weighted).confidences;
  EXPECT_EQ(confidences[0], 0.5);
  EXPECT_EQ(confidences[1], (1.0 - 1.0 / 4.0) / 2.0 + (1.0 - 3.0 / 4.0) / 2.0);
  // k > n keeps k in the divisor.
  EXPECT_EQ(model.predict(queries({0.0}), {.n_neighbors = 6}).confidences[0], 1.0 / 6.0);
}

Table regression(const std::vector<double>& x, const std::vector<double>& y) {
  Table table = queries(x);
  table.columns.push_back(make_numeric("y", y));
  table.columns[1].role = Role::label;
  return table;
}

TEST(Vote, Regression) {
  const Table train = regression({0.0, 1.0, 3.0}, {10.0, 20.0, 40.0});
  const KnnRegressor model = KnnRegressor::fit(train);
  EXPECT_EQ(model.predict(queries({0.0}), {.n_neighbors = 2}), std::vector<double>{15.0});
  EXPECT_EQ(model.predict(queries({0.0}), {.n_neighbors = 2, .weights = VoteWeights::distance}),
            std::vector<double>{10.0});
  EXPECT_EQ(model.predict(queries({2.0}), {.n_neighbors = 3, .weights = VoteWeights::distance}),
            std::vector<double>{(10.0 * 0.5 + 20.0 * 1.0 + 40.0 * 1.0) / 2.5});
  EXPECT_EQ(code_of([&] { KnnRegressor::fit(regression({0.0}, {std::nan("")})); }), ErrorCode::invalid_data);
  // RapidMiner's weight of a single neighbour is 1 - d/d = 0.
  const KnnRegressor compat = KnnRegressor::fit(train, rapidminer());
  EXPECT_EQ(compat.predict(queries({0.5}), {.n_neighbors = 1, .weights = VoteWeights::distance}),
            std::vector<double>{0.0});
  EXPECT_EQ(compat.predict(queries({0.0}), {.n_neighbors = 1, .weights = VoteWeights::distance}),
            std::vector<double>{10.0});
}

TEST(Vote, OneSearchServesEveryK) {
  Random random(8);
  Table train = oracle::random_table(
      random, {.n_rows = 60, .n_numeric = 2, .n_nominal = 2, .values = oracle::TableShape::Values::few});
  train.columns[3].role = Role::label;
  const std::vector<std::int64_t> ks = {7, 1, 60, 3};
  for (const Compat compat : {Compat::none, Compat::rapidminer}) {
    KnnOptions options;
    options.compat = compat;
    const KnnClassifier model = KnnClassifier::fit(train, options);
    const std::vector<Classification> each = model.predict_each(train, ks, {}, {});
    for (std::size_t i = 0; i < ks.size(); ++i) {
      const Classification alone = model.predict(train, {.n_neighbors = ks[i]});
      EXPECT_EQ(each[i].codes, alone.codes) << ks[i];
      EXPECT_EQ(each[i].confidences, alone.confidences) << ks[i];
    }
  }
}

TEST(Vote, TheClassesAreTheSameWithoutConfidences) {
  Random random(17);
  for (int i = 0; i < 300; ++i) {
    const int n_classes = std::vector{1, 2, 7, 200}[random.below(4)];
    const vote_cases::Case job = vote_cases::random_case(random, 40, 12, 20, n_classes, 2);
    const KnnClassifier model = KnnClassifier::fit(job.train, job.options);
    const std::vector<Classification> all = model.predict_each(job.query, job.ks, job.vote, {});
    VoteOptions vote = job.vote;
    vote.confidences = Confidences::none;
    const std::vector<Classification> none = model.predict_each(job.query, job.ks, vote, {});
    for (std::size_t k = 0; k < all.size(); ++k) {
      EXPECT_EQ(none[k].codes, all[k].codes) << "case " << i << ", k " << job.ks[k];
      EXPECT_TRUE(none[k].confidences.empty());
    }
  }
}

TEST(Vote, NoNeighbourLeavesTheClassMissingWithoutConfidencesToo) {
  Table train = labelled({0.0, 0.0}, {1, 1});
  train.columns.push_back(make_numeric("w", {0.0, 0.0}));
  train.columns[2].role = Role::weight;
  const VoteOptions vote{.n_neighbors = 2, .confidences = Confidences::none};
  EXPECT_EQ(KnnClassifier::fit(train).predict(queries({1.0}), vote).codes, std::vector<std::int32_t>{kMissingCode});
}

TEST(Vote, BlocksOfVeryManyClassesAreSmallAndComplete) {
  std::vector<std::string> names;
  for (int c = 0; c < 70000; ++c) names.push_back("c" + std::to_string(c));
  const KnnClassifier model = KnnClassifier::fit(labelled({0.0, 1.0, 2.0}, {69999, 0, 7}, names));
  std::vector<std::int32_t> codes;
  model.predict(queries({2.0, 1.0, 0.0, 0.1}), {.n_neighbors = 1}, {},
                [&](std::int64_t first_row, const Classification& block) {
                  EXPECT_EQ(first_row, std::ssize(codes));
                  EXPECT_LE(block.confidences.size() * sizeof(double), std::size_t{2} << 20);
                  for (std::size_t i = 0; i < block.codes.size(); ++i) {
                    codes.push_back(block.codes[i]);
                    EXPECT_EQ(block.confidences[i * names.size() + static_cast<std::size_t>(block.codes[i])], 1.0);
                    const auto row = block.confidences.begin() + static_cast<std::ptrdiff_t>(i * names.size());
                    EXPECT_EQ(std::accumulate(row, row + 70000, 0.0), 1.0);
                  }
                });
  EXPECT_EQ(codes, (std::vector<std::int32_t>{7, 0, 69999, 69999}));
}

TEST(Vote, ConfidencesCountAgainstTheBudget) {
  const KnnClassifier model = KnnClassifier::fit(labelled({0.0, 1.0}, {0, 1}));
  RunOptions run;
  run.memory_limit = 4000;  // 200 rows x 3 classes need 4,800
  const std::vector<double> many(200, 0.5);
  EXPECT_EQ(code_of([&] { model.predict(queries(many), {.n_neighbors = 1}, run); }), ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace stope
