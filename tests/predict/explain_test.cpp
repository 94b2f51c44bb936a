// Explanations: the votes are those of the prediction, the shares add up, and a table read part by part says the same.
#include "stope/explain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "environment.hpp"
#include "expect_error.hpp"
#include "predict/model_cases.hpp"
#include "stope/error.hpp"
#include "stope/predictor.hpp"

namespace stope {
namespace {

using namespace testing_models;

std::vector<RowExplanation> explain(const Predictor& predictor, const Table& table, const RunOptions& run = {}) {
  std::vector<RowExplanation> all;
  predictor.explain(table, run, [&](const RowExplanation& one) { all.push_back(one); });
  return all;
}

TEST(Explanations, HaveTheClassAndTheConfidencesOfThePrediction) {
  for (const bool balanced : {false, true}) {
    Model model = neighbors_model(40, true);
    std::get<NeighborsModel>(model.fitted).options.balanced = balanced;
    const Table test = mixed_table(23, true);
    const Predictor predictor(model);
    const Table& train = std::get<NeighborsModel>(model.fitted).train;
    const Column& label = train.columns[static_cast<std::size_t>(train.find(Role::label))];
    const Classification expected = predictor.classify(test);
    const std::vector<RowExplanation> found = explain(predictor, test);
    ASSERT_EQ(found.size(), 23u);
    for (std::size_t row = 0; row < found.size(); ++row) {
      EXPECT_EQ(found[row].row, static_cast<std::int64_t>(row));
      EXPECT_EQ(found[row].code, expected.codes[row]);
      std::vector<double> confidences(3, 0.0);
      for (const NeighborVote& vote : found[row].votes) {
        confidences[static_cast<std::size_t>(label.codes()[vote.train_index])] += vote.share;
      }
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(confidences[c], expected.confidences[row * 3 + c], 1e-12);
    }
  }
}

TEST(Explanations, HaveTheNumberOfThePrediction) {
  const Model model = neighbors_model(40, false);
  const Predictor predictor(model);
  const Table test = mixed_table(23, false);
  const std::vector<double> expected = predictor.regress(test);
  const Table& train = std::get<NeighborsModel>(model.fitted).train;
  const Column& label = train.columns[static_cast<std::size_t>(train.find(Role::label))];
  for (const RowExplanation& row : explain(predictor, test)) {
    EXPECT_EQ(row.number, expected[static_cast<std::size_t>(row.row)]);
    double mean = 0.0;
    for (const NeighborVote& vote : row.votes) mean += vote.share * label.at(vote.train_index);
    EXPECT_NEAR(mean, row.number, 1e-12);
  }
}

TEST(Explanations, UnderRapidMinersRulesHaveItsShares) {
  for (const VoteWeights weights : {VoteWeights::uniform, VoteWeights::distance}) {
    for (const std::int64_t k : {1, 4}) {
      const Table train = mixed_table(30, true), test = mixed_table(9, true);
      const KnnOptions knn{.metric = {"mixed-euclidean", {}}, .compat = Compat::rapidminer};
      const Predictor predictor(
          {outline(train), make_neighbors_model(train, knn, {}, {.n_neighbors = k, .weights = weights})});
      const Classification expected = predictor.classify(test);
      const Column& label = train.columns.back();
      for (const RowExplanation& row : explain(predictor, test)) {
        std::vector<double> sums(3, 0.0);
        for (const NeighborVote& vote : row.votes) {
          sums[static_cast<std::size_t>(label.codes()[vote.train_index])] += vote.weight;
        }
        for (std::size_t c = 0; c < 3; ++c) {
          EXPECT_NEAR(sums[c], expected.confidences[static_cast<std::size_t>(row.row) * 3 + c], 1e-12);
        }
      }
    }
  }
}

TEST(Explanations, OfATableEncodedPartByPartAreTheSame) {
  const Model model = neighbors_model(40, true);
  const Table test = mixed_table(11, true);
  const std::vector<RowExplanation> expected = explain(Predictor(model), test);
  const ForcedVariable parts("STOPE_PART_ROWS", "7");
  const std::vector<RowExplanation> found = explain(Predictor(model), test, {.threads = 3});
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].terms, expected[i].terms);
    ASSERT_EQ(found[i].votes.size(), expected[i].votes.size());
    for (std::size_t v = 0; v < found[i].votes.size(); ++v) {
      EXPECT_EQ(found[i].votes[v].train_index, expected[i].votes[v].train_index);
      EXPECT_EQ(found[i].votes[v].weight, expected[i].votes[v].weight);
    }
  }
}

TEST(Explanations, SharesAddUpToOneAndTheLargestComesFirst) {
  const Predictor predictor(neighbors_model(40, true));
  EXPECT_EQ(terms_add_up_to(predictor.index()), "distance");  // gower
  const std::vector<std::string> features = explained_features(predictor.index());
  ASSERT_EQ(features.size(), 3u);
  int compared = 0;
  for (const RowExplanation& row : explain(predictor, mixed_table(23, true))) {
    ASSERT_EQ(row.terms.size(), row.votes.size() * features.size());
    for (std::size_t vote = 0; vote < row.votes.size(); ++vote) {
      const auto shares = attribute_shares(row, static_cast<std::int64_t>(vote));
      if (row.votes[vote].distance == 0.0) {
        EXPECT_TRUE(shares.empty());
        continue;
      }
      ++compared;
      double sum = 0.0, terms = 0.0;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        sum += shares[i].share;
        terms += shares[i].term;
        if (i > 0) {
          EXPECT_LE(shares[i].share, shares[i - 1].share);
        }
      }
      EXPECT_NEAR(sum, 1.0, 1e-12);
      EXPECT_NEAR(terms, row.votes[vote].distance, 1e-12);
    }
    expect_error(ErrorCode::invalid_argument, "vote 3 of 3 is none",
                 [&] { attribute_shares(row, std::ssize(row.votes)); });
  }
  EXPECT_GT(compared, 20);
}

TEST(Explanations, OfAnIndexWithoutALabelHaveNoVotes) {
  Model model = neighbors_model(40);
  auto& neighbors = std::get<NeighborsModel>(model.fitted);
  neighbors.train = features_only(neighbors.train);
  for (const RowExplanation& row : explain(Predictor(model), mixed_table(5, true))) {
    EXPECT_EQ(row.code, -1);
    for (const NeighborVote& vote : row.votes) EXPECT_TRUE(std::isnan(vote.weight));
  }
}

TEST(Explanations, OfASimilarityHaveNoTerms) {
  const Table train = numeric_table(9);
  const Predictor predictor({outline(train), make_neighbors_model(train, {.metric = {"inner-product", {}}})});
  EXPECT_EQ(terms_add_up_to(predictor.index()), "");
  for (const RowExplanation& row : explain(predictor, train)) {
    EXPECT_TRUE(row.terms.empty());
    EXPECT_TRUE(attribute_shares(row, 0).empty());
  }
}

TEST(Explanations, OfOtherModelsAreRefused) {
  const Table rows = mixed_table(5, true);
  expect_error(ErrorCode::invalid_argument, "the model (decision tree) is no k-NN model",
               [&] { explain(Predictor(tree_model()), rows); });
  expect_error(ErrorCode::invalid_argument, "the sink is empty",
               [&] { Predictor(neighbors_model()).explain(rows, {}, {}); });
}

TEST(Contributions, OfCoefficientsAddUpToThePrediction) {
  const Model model = lsq_model();
  const auto& linear = std::get<LinearModel>(model.fitted);
  const Table rows = numeric_table(7);
  const std::vector<double> numbers = linear.predict(rows), parts = linear.contributions(rows);
  const std::size_t width = linear.feature_names().size();
  ASSERT_EQ(parts.size(), numbers.size() * width);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    double sum = linear.intercept();
    for (std::size_t j = 0; j < width; ++j) sum += parts[row * width + j];
    EXPECT_NEAR(sum, numbers[row], 1e-12 * std::max(1.0, std::fabs(numbers[row])));
    const Column& x = rows.columns[static_cast<std::size_t>(rows.find(linear.feature_names()[0]))];
    EXPECT_EQ(parts[row * width], x.at(static_cast<std::int64_t>(row)) * linear.coefficients()[0]);
  }
}

}  // namespace
}  // namespace stope
