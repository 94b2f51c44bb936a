// Repetitions, kept predictions, several measures at once, least squares and class weights: each equals evaluations,
// fits and predictions made by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/warning.hpp"

namespace stope {
namespace {

// The label follows x and the colour; some values are missing.
Table mixed(std::int64_t n_rows, bool nominal_label) {
  Random random(5);
  std::vector<double> x, y, number;
  std::vector<std::int32_t> colour, label;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    x.push_back(random.below(15) == 0 ? std::nan("") : random.uniform());
    y.push_back(1000.0 * random.uniform());
    colour.push_back(static_cast<std::int32_t>(random.below(3)));
    label.push_back(random.below(5) == 0 ? static_cast<std::int32_t>(random.below(3))
                    : x.back() < 0.5     ? 0
                                         : colour.back());
    number.push_back(3.0 * random.uniform() + y.back() / 500.0);
  }
  Table table;
  table.n_rows = n_rows;
  table.columns = {make_numeric("x", x), make_numeric("y", y), make_nominal("colour", colour, {"r", "g", "b"})};
  table.columns.push_back(nominal_label ? make_nominal("label", label, {"a", "b", "c"})
                                        : make_numeric("label", number));
  table.columns.back().role = Role::label;
  return table;
}

Table numbers(std::int64_t n_rows) {
  Table table = mixed(n_rows, false);
  table.columns.erase(table.columns.begin() + 2);
  for (std::int64_t row = 0; row < n_rows; ++row) {
    if (table.columns[0].missing(row)) std::get<Buffer<double>>(table.columns[0].data)[row] = 0.5;
  }
  return table;
}

EvaluateOptions gower() {
  EvaluateOptions options;
  options.knn.metric.name = "gower";
  options.n_folds = 4;
  options.ks = {1, 5, 9};
  options.seed = 7;
  return options;
}

TEST(Repeats, AreTheEvaluationsOfTheNextSeeds) {
  const Table table = mixed(83, true);
  for (const Scheme scheme : {Scheme::cross_validation, Scheme::holdout}) {
    EvaluateOptions options = gower();
    options.scheme = scheme;
    options.n_repeats = 3;
    options.confidences = Confidences::all;
    const Evaluation repeated = evaluate(table, options);
    options.n_repeats = 1;
    std::vector<double> folds;
    double mean = 0.0, auc = 0.0;
    for (std::uint64_t r = 0; r < 3; ++r) {
      options.seed = 7 + r;
      const EvaluationOfK one = evaluate(table, options).of_k[1];
      const EvaluationOfK& all = repeated.of_k[1];
      EXPECT_EQ(all.repeats[r].accuracy, one.classification.accuracy);
      EXPECT_EQ(all.repeats[r].kappa, one.classification.kappa);
      EXPECT_EQ(all.repeats[r].macro_f1, one.classification.macro_f1);
      EXPECT_EQ(all.repeats[r].balanced_accuracy, balanced_accuracy(one.classification));
      EXPECT_EQ(all.repeats[r].roc_auc, one.probabilities.roc_auc);
      EXPECT_EQ(all.repeats[r].log_loss, one.probabilities.log_loss);
      folds.insert(folds.end(), one.fold_scores.begin(), one.fold_scores.end());
      mean += one.classification.accuracy / 3.0;
      auc += one.probabilities.roc_auc / 3.0;
    }
    EXPECT_EQ(repeated.of_k[1].fold_scores, folds);
    EXPECT_NEAR(spread(repeated.of_k[1].repeats, &RepeatScores::accuracy).mean, mean, 1e-15);
    EXPECT_NEAR(repeated.of_k[1].classification.accuracy, mean, 1e-15);  // all repetitions together
    EXPECT_NEAR(repeated.of_k[1].probabilities.roc_auc, auc, 1e-15);
  }
}

TEST(Repeats, HaveTheDeviationOfTheirScores) {
  std::vector<RepeatScores> repeats(3);
  repeats[0].rmse = 1.0;
  repeats[1].rmse = 2.0;
  repeats[2].rmse = 6.0;
  EXPECT_EQ(spread(repeats, &RepeatScores::rmse).mean, 3.0);
  EXPECT_DOUBLE_EQ(spread(repeats, &RepeatScores::rmse).deviation, std::sqrt(7.0));
  repeats.resize(1);
  EXPECT_TRUE(std::isnan(spread(repeats, &RepeatScores::rmse).deviation));
  EXPECT_TRUE(std::isnan(spread({}, &RepeatScores::rmse).mean));
}

TEST(Repeats, OfLeaveOneOutAreRefusedAndSoAreNone) {
  EvaluateOptions options = gower();
  options.n_repeats = 0;
  expect_error(ErrorCode::invalid_argument, "0 repetitions", [&] { evaluate(mixed(20, true), options); });
  options.n_repeats = 2;
  options.scheme = Scheme::leave_one_out;
  expect_error(ErrorCode::invalid_argument, "leave-one-out has one way to split a table",
               [&] { evaluate(mixed(20, true), options); });
}

TEST(KeptPredictions, AreThoseThatWereScored) {
  const Table table = mixed(83, true);
  const Column& label = table.columns.back();
  EvaluateOptions options = gower();
  options.n_repeats = 2;
  options.confidences = Confidences::all;
  options.predictions = Predictions::kept;
  const Evaluation evaluation = evaluate(table, options);
  for (std::size_t i = 0; i < evaluation.of_k.size(); ++i) {
    EXPECT_EQ(evaluation.of_k[i].predictions.rows.empty(), i != evaluation.best);
  }
  const EvaluationOfK& best = evaluation.of_k[evaluation.best];
  const OutOfFold& kept = best.predictions;
  ASSERT_EQ(kept.rows.size(), 2u * 83u);
  ASSERT_EQ(kept.confidences.size(), 3u * kept.rows.size());
  for (std::int64_t repeat = 0; repeat < 2; ++repeat) {
    std::vector<std::int32_t> truth, predicted;
    std::vector<double> confidences;
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < kept.rows.size(); ++i) {
      if (kept.repeats[i] != repeat) continue;
      EXPECT_TRUE(seen.insert(kept.rows[i]).second);
      truth.push_back(label.codes()[kept.rows[i]]);
      predicted.push_back(kept.codes[i]);
      for (std::size_t c = 0; c < 3; ++c) confidences.push_back(kept.confidences[3 * i + c]);
    }
    EXPECT_EQ(seen.size(), 83u);
    const RepeatScores& scores = best.repeats[static_cast<std::size_t>(repeat)];
    EXPECT_EQ(score_classification(label.values, truth, predicted).accuracy, scores.accuracy);
    EXPECT_EQ(score_probabilities(label.values, truth, confidences).roc_auc, scores.roc_auc);
  }
  // A row's fold is the one that held it out.
  const std::vector<std::int32_t> codes(label.codes().begin(), label.codes().end());
  const auto folds = cross_validation_folds(83, 4, 8, codes);  // repetition 1
  for (std::size_t i = 0; i < kept.rows.size(); ++i) {
    if (kept.repeats[i] == 0) continue;
    const auto& fold = folds[static_cast<std::size_t>(kept.folds[i])];
    EXPECT_TRUE(std::binary_search(fold.begin(), fold.end(), kept.rows[i]));
  }
}

TEST(KeptPredictions, OfNumbersAreThoseThatWereScored) {
  const Table table = mixed(60, false);
  EvaluateOptions options = gower();
  options.predictions = Predictions::kept;
  const Evaluation evaluation = evaluate(table, options);
  const EvaluationOfK& best = evaluation.of_k[evaluation.best];
  std::vector<double> truth;
  for (const std::int64_t row : best.predictions.rows) truth.push_back(table.columns.back().at(row));
  EXPECT_NEAR(score_regression(truth, best.predictions.numbers).rmse, best.regression.rmse, 1e-12);
}

TEST(Grid, HasEveryMeasureWithEveryNormalisationAndTheBestOfAll) {
  const Table table = mixed(83, true);
  EvaluateOptions options = gower();
  options.predictions = Predictions::kept;
  const std::vector<NormalizeOptions> normalizations = {{}, {.method = Normalization::z}};
  const EvaluationGrid grid = evaluate_grid(table, options, {"mixed-euclidean", "heom", "gower"}, normalizations);
  ASSERT_EQ(grid.cells.size(), 6u);
  double best = 0.0;
  for (std::size_t i = 0; i < 6; ++i) {
    const char* const names[] = {"mixed-euclidean", "heom", "gower"};
    EXPECT_EQ(grid.cells[i].metric.name, names[i / 2]);
    EvaluateOptions here = options;
    here.knn.metric.name = names[i / 2];
    here.normalize = normalizations[i % 2];
    const Evaluation alone = evaluate(table, here);
    const Evaluation& cell = grid.cells[i].evaluation;
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(cell.of_k[k].classification.confusion, alone.of_k[k].classification.confusion);
      best = std::max(best, alone.of_k[k].classification.accuracy);
    }
    EXPECT_EQ(cell.of_k[cell.best].predictions.rows.empty(), i != grid.best);
  }
  const Evaluation& winner = grid.cells[grid.best].evaluation;
  EXPECT_EQ(winner.of_k[winner.best].classification.accuracy, best);
}

TEST(Grid, GivesAParameterToTheMeasuresThatHaveIt) {
  const Table table = numbers(40);
  EvaluateOptions options = gower();
  options.knn.metric.params = {{"p", "3"}};
  const EvaluationGrid grid = evaluate_grid(table, options, {"manhattan", "minkowski"}, {{}});
  EXPECT_TRUE(grid.cells[0].metric.params.empty());
  EXPECT_EQ(grid.cells[1].metric.params.at("p"), "3");
  expect_error(ErrorCode::invalid_argument, "none of these measures has a parameter 'p'",
               [&] { evaluate_grid(table, options, {"manhattan"}, {{}}); });
  expect_error(ErrorCode::invalid_argument, "no measure to evaluate", [&] { evaluate_grid(table, options, {}, {{}}); });
  expect_error(ErrorCode::invalid_argument, "no normalisation to evaluate",
               [&] { evaluate_grid(table, options, {"minkowski"}, {}); });
}

TEST(Grid, WarnsOfRangesOnlyWhereNoNormalisationIsTried) {
  const Table table = numbers(40);  // y is a thousand times x
  std::vector<std::string> codes;
  RunOptions run;
  run.warn = [&](std::string_view code, std::string_view) { codes.emplace_back(code); };
  EvaluateOptions options = gower();
  evaluate_grid(table, options, {"euclidean"}, {{}, {.method = Normalization::z}}, run);
  EXPECT_TRUE(codes.empty());
  evaluate_grid(table, options, {"euclidean"}, {{}}, run);
  EXPECT_EQ(codes, std::vector<std::string>{std::string(warning::kRangesApart)});
}

TEST(EvaluateLsq, EqualsFittingEachFoldByHand) {
  const Table table = numbers(50);
  LsqEvaluationOptions options;
  options.lsq.alpha = 0.5;
  options.n_folds = 5;
  options.seed = 3;
  options.predictions = Predictions::kept;
  const LsqEvaluation evaluation = evaluate_lsq(table, options);
  std::vector<double> truth(50), predicted(50);
  const auto folds = cross_validation_folds(50, 5, 3);
  for (const auto& fold : folds) {
    std::vector<std::int64_t> others;
    for (std::int64_t row = 0; row < 50; ++row) {
      if (!std::binary_search(fold.begin(), fold.end(), row)) others.push_back(row);
    }
    const std::vector<double> numbers_of_fold =
        LinearModel::fit(table.take(others), options.lsq).predict(table.take(fold));
    for (std::size_t i = 0; i < fold.size(); ++i) {
      predicted[static_cast<std::size_t>(fold[i])] = numbers_of_fold[i];
      truth[static_cast<std::size_t>(fold[i])] = table.columns.back().at(fold[i]);
    }
  }
  const RegressionScores expected = score_regression(truth, predicted);
  EXPECT_EQ(evaluation.scores.rmse, expected.rmse);
  EXPECT_EQ(evaluation.scores.mae, expected.mae);
  EXPECT_EQ(evaluation.scores.r2, expected.r2);
  EXPECT_EQ(evaluation.fold_scores.size(), 5u);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(evaluation.predictions.numbers[i], predicted[static_cast<std::size_t>(evaluation.predictions.rows[i])]);
  }
}

TEST(EvaluateLsq, LeavesOneOutAndRefusesClasses) {
  LsqEvaluationOptions options;
  options.scheme = Scheme::leave_one_out;
  const LsqEvaluation evaluation = evaluate_lsq(numbers(20), options);
  EXPECT_EQ(evaluation.scores.n_rows, 20);
  EXPECT_TRUE(evaluation.fold_scores.empty());
  expect_error(ErrorCode::invalid_argument, "'label' is nominal", [&] { evaluate_lsq(mixed(20, true), options); });
  Table unlabelled = numbers(20);
  unlabelled.columns.back().role = Role::regular;
  expect_error(ErrorCode::invalid_argument, "evaluation needs a label", [&] { evaluate_lsq(unlabelled, options); });
}

TEST(EvaluateTrees, RepeatedKeepPredictionsAndConfidences) {
  const Table table = mixed(60, true);
  TreeEvaluationOptions options;
  options.fit.tree.missing = MissingPolicy::value;
  options.fit.tree.min_samples_leaf = 4;
  options.n_folds = 3;
  options.n_repeats = 2;
  options.confidences = Confidences::all;
  options.predictions = Predictions::kept;
  const TreeEvaluation repeated = evaluate_tree(table, options);
  options.n_repeats = 1;
  for (std::uint64_t r = 0; r < 2; ++r) {
    options.seed = r;
    const TreeEvaluation one = evaluate_tree(table, options);
    EXPECT_EQ(repeated.repeats[r].accuracy, one.scores.accuracy);
    EXPECT_EQ(repeated.repeats[r].roc_auc, one.probabilities.roc_auc);
    EXPECT_GT(one.probabilities.roc_auc, 0.5);
    for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(repeated.predictions.codes[r * 60 + i], one.predictions.codes[i]);
  }
}

TEST(Evaluate, WeighsClassesInEveryFold) {
  const Table table = mixed(83, true);
  EvaluateOptions options = gower();
  options.knn.class_weights = {{"a", 0.0}};  // so a is never predicted
  const Evaluation weighed = evaluate(table, options);
  for (const ConfusionCell& cell : weighed.of_k[2].classification.confusion) EXPECT_NE(cell.predicted, 0);
  options.knn.class_weights = {};
  EXPECT_NE(evaluate(table, options).of_k[2].classification.confusion, weighed.of_k[2].classification.confusion);
}

TEST(Evaluate, HasTheSameBitsForAnyNumberOfThreads) {
  const Table table = mixed(83, true);
  EvaluateOptions options = gower();
  options.confidences = Confidences::all;
  options.knn.balanced = true;
  const Evaluation one = evaluate(table, options, {.threads = 1}), four = evaluate(table, options, {.threads = 4});
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(one.of_k[k].probabilities.roc_auc, four.of_k[k].probabilities.roc_auc);
    EXPECT_EQ(one.of_k[k].probabilities.log_loss, four.of_k[k].probabilities.log_loss);
  }
}

TEST(Evaluate, SaysWhichConfidencesHaveRoom) {
  const Table table = mixed(83, true);
  EXPECT_EQ(affordable_confidences(table, 3), Confidences::all);
  EXPECT_EQ(affordable_confidences(table, std::int64_t{1} << 24), Confidences::none);
  EXPECT_EQ(affordable_confidences(mixed(83, false), 3), Confidences::none);
}

}  // namespace
}  // namespace stope
