// "evaluate", "confusion" and explanations by name: the tables hold what the functions give, and options that a model
// does not have are unknown.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "predict/model_cases.hpp"
#include "same_table.hpp"
#include "stope/chain.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/jobs.hpp"

namespace stope {
namespace {

using namespace testing_models;
using Texts = std::map<std::string, std::string>;

Table evaluated(const Table& table, const Texts& texts, const std::string& job = "evaluate") {
  return compute(job, table, {.texts = texts});
}

const Column& column(const Table& table, const std::string& name) {
  return table.columns[static_cast<std::size_t>(table.find(name))];
}

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> all;
  for (const Column& one : table.columns) all.push_back(one.name);
  return all;
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    return error.what();
  }
  return "";
}

TEST(EvaluationJobs, ScoreEveryKOfEveryMeasure) {
  const Table table = mixed_table(40, true);
  const Table scores = evaluated(table, {{"metrics", "gower,heom"},
                                         {"normalizations", "none,z"},
                                         {"n_neighbors", "1,3"},
                                         {"n_folds", "4"},
                                         {"balanced", "true"}});
  EXPECT_EQ(names(scores), (std::vector<std::string>{"metric", "normalize", "k", "accuracy", "kappa", "macro_f1",
                                                     "balanced_accuracy", "roc_auc", "log_loss"}));
  ASSERT_EQ(scores.n_rows, 8);
  EvaluateOptions options;
  options.knn.metric.name = "heom";
  options.knn.balanced = true;
  options.normalize.method = Normalization::z;
  options.n_folds = 4;
  options.ks = {1, 3};
  options.confidences = Confidences::all;
  const Evaluation expected = evaluate(table, options);
  EXPECT_EQ(column(scores, "accuracy").at(7), expected.of_k[1].classification.accuracy);
  EXPECT_EQ(column(scores, "roc_auc").at(7), expected.of_k[1].probabilities.roc_auc);
  EXPECT_EQ(column(scores, "log_loss").at(6), expected.of_k[0].probabilities.log_loss);
}

TEST(EvaluationJobs, OfOneMeasureBeginWithTheColumnsThatTheyHad) {
  const std::vector<std::string> head = names(evaluated(mixed_table(40, true), {{"metric", "gower"}}));
  EXPECT_EQ(std::vector<std::string>(head.begin(), head.begin() + 4),
            (std::vector<std::string>{"k", "accuracy", "kappa", "macro_f1"}));
  EXPECT_EQ(names(evaluated(mixed_table(40, false), {{"metric", "gower"}})),
            (std::vector<std::string>{"k", "rmse", "mae", "r2"}));
}

TEST(EvaluationJobs, OfTreesAndLeastSquaresAreThoseOfTheirFunctions) {
  const Table table = mixed_table(40, true);
  const Table tree = evaluated(
      table, {{"model", "tree"}, {"missing", "value"}, {"n_folds", "4"}, {"n_repeats", "2"}, {"class_weight.a", "2"}});
  TreeEvaluationOptions options;
  options.fit.tree.missing = MissingPolicy::value;
  options.fit.tree.class_weights = {{"a", 2.0}};
  options.n_folds = 4;
  options.n_repeats = 2;
  const TreeEvaluation expected = evaluate_tree(table, options);
  EXPECT_EQ(column(tree, "accuracy").at(0), spread(expected.repeats, &RepeatScores::accuracy).mean);
  EXPECT_EQ(column(tree, "accuracy_std").at(0), spread(expected.repeats, &RepeatScores::accuracy).deviation);
  EXPECT_EQ(column(tree, "mean_leaves").at(0), expected.mean_leaves);
  const Table lsq =
      evaluated(numeric_table(30), {{"model", "lsq"}, {"alpha", "0.5"}, {"missing", "mean"}, {"n_folds", "3"}});
  LsqEvaluationOptions ridge;
  ridge.lsq.alpha = 0.5;
  ridge.lsq.missing = MissingValues::mean;
  ridge.n_folds = 3;
  EXPECT_EQ(column(lsq, "rmse").at(0), evaluate_lsq(numeric_table(30), ridge).scores.rmse);
}

// Probabilities of all classes are kept while they fit in 1 GiB. These take half of it, and more than the limit.
TEST(EvaluationJobs, OfATreeHaveProbabilitiesOfManyClasses) {
  constexpr std::int32_t kClasses = 8400;
  std::vector<std::int32_t> codes;
  std::vector<std::string> classes;
  for (std::int32_t code = 0; code < kClasses; ++code) {
    codes.push_back(code);
    classes.push_back("class " + std::to_string(code));
  }
  Table table;
  table.n_rows = kClasses;
  table.columns = {make_numeric("x", std::vector<double>(kClasses, 1.0)), make_nominal("class", codes, classes)};
  table.columns[1].role = Role::label;
  RunOptions run;
  run.memory_limit = 100'000'000;
  try {
    compute("evaluate", table, {.texts = {{"model", "tree"}, {"n_folds", "2"}}}, run);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("predictions and scores of 8400 rows need"), std::string::npos)
        << error.what();
  }
}

TEST(EvaluationJobs, ConfusionCountsEveryRowOnce) {
  const Table table = mixed_table(40, true);
  for (const char* model : {"knn", "tree"}) {
    Texts texts = {{"model", model}, {"n_folds", "4"}};
    if (texts["model"] == "tree") texts["missing"] = "value";
    const Table cells = evaluated(table, texts, "confusion");
    double rows = 0.0;
    for (std::int64_t row = 0; row < cells.n_rows; ++row) rows += column(cells, "count").at(row);
    EXPECT_EQ(rows, 40.0) << model;
    EXPECT_EQ(cells.find("k") >= 0, std::string(model) == "knn");
  }
}

TEST(EvaluationJobs, OptionsThatAModelDoesNotHaveAreRefused) {
  const Table table = mixed_table(40, true);
  const auto refused = [&](const Texts& texts, const std::string& job = "evaluate") {
    return refusal([&] { evaluated(table, texts, job); });
  };
  EXPECT_NE(refused({{"criterion", "gini"}}).find("criterion has no effect on the model knn"), std::string::npos);
  EXPECT_NE(refused({{"model", "tree"}, {"metric", "gower"}}).find("metric has no effect"), std::string::npos);
  EXPECT_NE(refused({{"model", "tree"}, {"metric.p", "3"}}).find("metric.p has no effect"), std::string::npos);
  EXPECT_NE(refused({{"model", "lsq"}, {"balanced", "true"}}).find("balanced has no effect"), std::string::npos);
  EXPECT_NE(refused({{"model", "lsq"}, {"class_weight.a", "2"}}).find("class_weight.a has"), std::string::npos);
  EXPECT_NE(refused({{"missing", "fill"}}).find("missing has no effect on the model knn"), std::string::npos);
  EXPECT_NE(refused({{"model", "tree"}, {"alpha", "1"}}).find("alpha has no effect"), std::string::npos);
  // A form sends what it does not know at its default.
  EXPECT_EQ(refused({{"metric", "gower"}, {"criterion", "discernibility"}, {"alpha", "0"}, {"missing", "error"}}), "");
  EXPECT_NE(refused({{"model", "forest"}}).find("model"), std::string::npos);
  EXPECT_NE(refused({{"model", "tree"}, {"missing", "mean"}}).find("mean"), std::string::npos);
  EXPECT_NE(refused({{"n_repeats", "0"}}).find("at least 1"), std::string::npos);
  EXPECT_NE(refused({{"metrics", "gower,heom"}}, "confusion").find("one measure"), std::string::npos);
  EXPECT_NE(refused({{"normalizations", "none,z"}}, "confusion").find("one normalisation"), std::string::npos);
  EXPECT_NE(refused({{"model", "lsq"}}, "confusion").find("lsq gives numbers"), std::string::npos);
  const std::string numbers = refusal([&] { evaluated(mixed_table(40, false), {}, "confusion"); });
  EXPECT_NE(numbers.find("'class' has numbers"), std::string::npos) << numbers;
  for (const double k : {0.0, 2.5, 0x1p54, std::numeric_limits<double>::quiet_NaN()}) {
    NamedOptions options{.texts = {}, .numbers = {{"n_neighbors", {3.0, k}}}};
    EXPECT_NE(refusal([&] { compute("evaluate", table, options); }).find("not a whole number"), std::string::npos) << k;
  }
}

TEST(ExplanationsByName, AreThoseOfTheFunctions) {
  const Table train = mixed_table(40, true), rows = mixed_table(9, true);
  const Predictor model = fit_model("classify", train, {.texts = {{"metric", "gower"}, {"n_neighbors", "4"}}});
  const Table found = apply_model(model, rows, {.texts = {{"explain", "true"}, {"explain_attributes", "2"}}});
  std::int64_t at = 0;
  model.explain(rows, {}, [&](const RowExplanation& one) {
    for (std::size_t i = 0; i < one.votes.size(); ++i) {
      const auto shares = attribute_shares(one, static_cast<std::int64_t>(i));
      const std::int64_t n = std::max<std::int64_t>(std::min<std::int64_t>(std::ssize(shares), 2), 1);
      for (std::int64_t j = 0; j < n; ++j, ++at) {
        ASSERT_LT(at, found.n_rows);
        EXPECT_EQ(column(found, "row").at(at), static_cast<double>(one.row));
        EXPECT_EQ(column(found, "train_index").at(at), static_cast<double>(one.votes[i].train_index));
        EXPECT_EQ(column(found, "vote_share").at(at), one.votes[i].share);
        if (shares.empty()) continue;
        EXPECT_EQ(column(found, "attribute_share").at(at), shares[static_cast<std::size_t>(j)].share);
      }
    }
  });
  EXPECT_EQ(at, found.n_rows);
}

TEST(ExplanationsByName, OfNumbersHaveTheTrainingLabelsAndAreTheirMean) {
  const Table train = mixed_table(40, false), rows = mixed_table(9, false);
  const Predictor model = fit_model("regress", train, {.texts = {{"metric", "gower"}, {"n_neighbors", "4"}}});
  const NamedOptions explain{.texts = {{"explain", "true"}, {"explain_attributes", "1"}}};
  const Table found = apply_model(model, rows, explain);
  const std::vector<double> expected = model.regress(rows);
  ASSERT_EQ(found.n_rows, 9 * 4);
  std::vector<double> sums(9, 0.0);
  for (std::int64_t at = 0; at < found.n_rows; ++at) {
    const auto row = static_cast<std::size_t>(column(found, "row").at(at));
    const auto neighbor = static_cast<std::int64_t>(column(found, "train_index").at(at));
    EXPECT_EQ(column(found, "prediction").at(at), expected[row]);
    EXPECT_EQ(column(found, "train_label").at(at), column(train, "class").at(neighbor));
    sums[row] += column(found, "vote_share").at(at) * column(found, "train_label").at(at);
  }
  for (std::size_t row = 0; row < sums.size(); ++row) EXPECT_NEAR(sums[row], expected[row], 1e-12);
}

TEST(ExplanationsByName, OfNeighboursWithoutALabelHaveNoVotes) {
  const Predictor model =
      fit_model("neighbors", mixed_table(40, true), {.texts = {{"metric", "gower"}, {"n_neighbors", "4"}}});
  const Table found = apply_model(model, mixed_table(9, true), {.texts = {{"explain", "true"}}});
  EXPECT_GE(found.n_rows, 9 * 4);
  EXPECT_EQ(found.find("prediction"), -1);
  EXPECT_EQ(found.find("vote_share"), -1);
  EXPECT_EQ(column(found, "distance").at(0), 0.0) << "row 0 is a training row";
}

TEST(ExplanationsByName, OfTreesThatExceedTheMemoryLimitAreRefused) {
  const Predictor tree = fit_model("tree", mixed_table(40, true), {.texts = {{"missing", "value"}}});
  RunOptions run;
  run.memory_limit = 8;
  try {
    apply_model(tree, mixed_table(1, true), {.texts = {{"explain", "true"}}}, run);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("the rules of the tree's leaves need"), std::string::npos) << error.what();
  }
}

TEST(ExplanationsByName, OfChainsAreThoseOfTheirLastStep) {
  const Table train = mixed_table(40, true), rows = mixed_table(9, true);
  const Model scale{outline(train), Normalizer::fit(train, {.method = Normalization::z})};
  const Normalizer& normalizer = std::get<Normalizer>(scale.fitted);
  const Predictor last =
      fit_model("classify", normalizer.apply(train), {.texts = {{"metric", "gower"}, {"n_neighbors", "4"}}});
  const NamedOptions explain{.texts = {{"explain", "true"}}};
  expect_equal(apply_model(Predictor(make_chain({scale, last.model()})), rows, explain),
               apply_model(last, normalizer.apply(rows), explain));
}

TEST(ExplanationsByName, OfTreesAreRulesAndOfLeastSquaresContributions) {
  const Predictor tree = fit_model("tree", mixed_table(40, true), {.texts = {{"missing", "value"}}});
  const NamedOptions explain{.texts = {{"explain", "true"}}};
  EXPECT_EQ(names(apply_model(tree, mixed_table(9, true), explain)),
            (std::vector<std::string>{"row", "prediction", "rule", "because"}));
  const Predictor lsq = fit_model("lsq", numeric_table(30), {.texts = {{"missing", "mean"}}});
  const Table rows = numeric_table(7), found = apply_model(lsq, rows, explain);
  const std::vector<double> numbers = lsq.regress(rows);
  std::vector<double> sums(numbers.size(), 0.0);
  for (std::int64_t i = 0; i < found.n_rows; ++i) {
    sums[static_cast<std::size_t>(column(found, "row").at(i))] += column(found, "contribution").at(i);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(sums[i], numbers[i], 1e-9);
  const Predictor pca = fit_model("pca", numeric_table(30), {.texts = {{"missing", "mean"}}});
  EXPECT_NE(refusal([&] { apply_model(pca, rows, explain); }).find("nothing explains"), std::string::npos);
  EXPECT_NE(refusal([&] {
              apply_model(tree, rows, {.texts = {{"explain", "1"}, {"explain_attributes", "-1"}}});
            }).find("at least 0"),
            std::string::npos);
}

}  // namespace
}  // namespace stope
