// evaluate() equals fits and predictions made by hand, fold by fold; leave-one-out, errors, budget, progress.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/fault.hpp"
#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

using Ks = std::vector<std::int64_t>;

Column as_label(Column column) {
  column.role = Role::label;
  return column;
}

Table table_of(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns[0].size();
  table.columns = std::move(columns);
  table.source = "t.csv";
  return table;
}

// Makes two numeric features of very different scale and one nominal; some values are missing, and the label depends on
// them.
Table mixed_table(std::int64_t n_rows, std::uint64_t seed, bool nominal_label) {
  Random random(seed);
  std::vector<double> small, large, target;
  std::vector<std::int32_t> colour, label;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const double x = random.uniform();
    const double y = random.uniform() * 1000.0;
    colour.push_back(static_cast<std::int32_t>(random.below(3)));
    label.push_back(x + random.uniform() * 0.5 > 0.7 ? 1 : (colour.back() == 2 ? 2 : 0));
    target.push_back(3.0 * x + y / 1000.0);
    small.push_back(random.below(12) == 0 ? kNaN : x);
    large.push_back(random.below(12) == 0 ? kNaN : y);
    if (random.below(12) == 0) colour.back() = kMissingCode;
  }
  std::vector<Column> columns = {make_numeric("small", small), make_numeric("large", large),
                                 make_nominal("colour", colour, {"r", "g", "b"})};
  columns.push_back(
      as_label(nominal_label ? make_nominal("label", label, {"no", "yes", "maybe"}) : make_numeric("label", target)));
  return table_of(std::move(columns));
}

// x = 0 1 2 10 11 12: a cluster of class a, a cluster of class b, and one b among the a.
Table line_table() {
  return table_of(
      {make_numeric("x", {0, 1, 2, 10, 11, 12}), as_label(make_nominal("class", {0, 0, 1, 1, 1, 1}, {"a", "b"}))});
}

EvaluateOptions options_of(Scheme scheme, Ks ks = {5}) {
  EvaluateOptions options;
  options.scheme = scheme;
  options.ks = std::move(ks);
  return options;
}

// Returns training and test part of one split, each normalised by what was fitted to the training part.
std::pair<Table, Table> split(const Table& table, const std::vector<std::int64_t>& test, NormalizeOptions normalize) {
  std::vector<std::int64_t> train;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    if (std::find(test.begin(), test.end(), row) == test.end()) train.push_back(row);
  }
  const Table train_table = table.take(train);
  const Normalizer normalizer = Normalizer::fit(train_table, normalize);
  return {normalizer.apply(train_table), normalizer.apply(table.take(test))};
}

void expect_same(const ClassificationScores& actual, const ClassificationScores& expected) {
  EXPECT_EQ(actual.classes, expected.classes);
  EXPECT_EQ(actual.confusion, expected.confusion);
  EXPECT_EQ(actual.accuracy, expected.accuracy);
  EXPECT_EQ(actual.macro_f1, expected.macro_f1);
}

TEST(EvaluateClassification, CrossValidationEqualsFittingEachFoldByHand) {
  const Table table = mixed_table(101, 4, true);
  EvaluateOptions options = options_of(Scheme::cross_validation, {1, 7, 3});
  options.n_folds = 4;
  options.seed = 9;
  options.normalize.method = Normalization::z;
  options.weights = VoteWeights::distance;
  const Evaluation evaluation = evaluate(table, options);
  EXPECT_TRUE(evaluation.label_is_nominal);
  ASSERT_EQ(evaluation.of_k.size(), 3u);

  const auto& codes = table.columns[3].codes();
  const auto folds = cross_validation_folds(101, 4, 9, {codes.begin(), codes.end()});
  for (std::size_t i = 0; i < 3; ++i) {
    const EvaluationOfK& of_k = evaluation.of_k[i];
    EXPECT_EQ(of_k.k, options.ks[i]);
    ASSERT_EQ(of_k.fold_scores.size(), 4u);
    std::vector<std::int32_t> truth, predicted;
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const auto [train, test] = split(table, folds[f], options.normalize);
      VoteOptions vote;
      vote.n_neighbors = options.ks[i];
      vote.weights = options.weights;
      const Classification result = KnnClassifier::fit(train).predict(test, vote);
      std::int64_t hits = 0;
      for (std::size_t j = 0; j < folds[f].size(); ++j) {
        truth.push_back(codes[folds[f][j]]);
        predicted.push_back(result.codes[j]);
        hits += truth.back() == predicted.back() ? 1 : 0;
      }
      EXPECT_EQ(of_k.fold_scores[f], static_cast<double>(hits) / static_cast<double>(folds[f].size()));
    }
    EXPECT_EQ(of_k.classification.n_rows, 101);
    expect_same(of_k.classification, score_classification({"no", "yes", "maybe"}, truth, predicted));
  }
}

TEST(EvaluateClassification, WeightsStayWithTheirFeatures) {
  const Table table = mixed_table(120, 8, true);
  Table nominal_first = table;
  std::swap(nominal_first.columns[0], nominal_first.columns[2]);
  EvaluateOptions options = options_of(Scheme::cross_validation, {3});
  options.knn.compat = options.normalize.compat = Compat::rapidminer;  // the numeric features come first
  options.normalize.method = Normalization::range;
  const auto scores = [&](const Table& of, std::vector<double> weights) {
    options.knn.feature_weights = std::move(weights);
    return evaluate(of, options).of_k[0].classification;
  };
  const ClassificationScores expected = scores(table, {9, 0.25, 1});  // small, large, colour
  EXPECT_NE(expected.confusion, scores(table, {1, 0.25, 9}).confusion);
  expect_same(scores(nominal_first, {1, 0.25, 9}), expected);  // colour, large, small
  expect_error(ErrorCode::invalid_argument, "2 feature weights for 3 features", [&] { scores(table, {1, 1}); });
}

TEST(EvaluateClassification, HoldoutScoresTheTestPartOnly) {
  const Table table = mixed_table(67, 5, true);
  EvaluateOptions options = options_of(Scheme::holdout, {3});
  options.holdout = 0.25;
  options.seed = 2;
  options.normalize.method = Normalization::range;
  const Evaluation evaluation = evaluate(table, options);

  const auto& codes = table.columns[3].codes();
  const auto rows = holdout_rows(67, 0.25, 2, {codes.begin(), codes.end()});
  const auto [train, test] = split(table, rows, options.normalize);
  VoteOptions vote;
  vote.n_neighbors = 3;
  const Classification result = KnnClassifier::fit(train).predict(test, vote);
  std::vector<std::int32_t> truth;
  for (const std::int64_t row : rows) truth.push_back(codes[row]);
  expect_same(evaluation.of_k[0].classification, score_classification(result.classes, truth, result.codes));
  EXPECT_EQ(evaluation.of_k[0].classification.n_rows, 17);
  EXPECT_EQ(evaluation.of_k[0].fold_scores, std::vector<double>{evaluation.of_k[0].classification.accuracy});
  EXPECT_EQ(evaluation.report.pairs, 17 * 50);
}

TEST(EvaluateClassification, LeaveOneOutByHand) {
  // k = 1: 0->1 a, 1->0 a (tie at distance 1: the earlier row), 2->1 a (wrong), 10->11, 11->10, 12->11: 5 of 6.
  // k = 3: 0: 1 2 10 = a b b (wrong); 1: 0 2 10 = a b b (wrong); 2: 1 0 10 = a a b (wrong); the rest b: 3 of 6.
  const Evaluation evaluation = evaluate(line_table(), options_of(Scheme::leave_one_out, {3, 1}));
  EXPECT_EQ(evaluation.of_k[0].classification.accuracy, 0.5);
  EXPECT_EQ(evaluation.of_k[0].classification.confusion_matrix(), (std::vector<std::int64_t>{0, 2, 0, 1, 3, 0}));
  EXPECT_EQ(evaluation.of_k[1].classification.accuracy, 5.0 / 6.0);
  EXPECT_EQ(evaluation.of_k[1].classification.confusion_matrix(), (std::vector<std::int64_t>{2, 0, 0, 1, 3, 0}));
  EXPECT_TRUE(evaluation.of_k[0].fold_scores.empty());
  EXPECT_EQ(evaluation.best, 1u);
}

TEST(EvaluateClassification, LeaveOneOutNeverVotesForItselfThoughAnotherRowIsEqual) {
  // Every row has a twin of the other class: the nearest other row is the twin, at distance 0.
  const Evaluation evaluation = evaluate(table_of({make_numeric("x", {0, 0, 5, 5, 9, 9}),
                                                   as_label(make_nominal("class", {0, 1, 0, 1, 0, 1}, {"a", "b"}))}),
                                         options_of(Scheme::leave_one_out, {1}));
  EXPECT_EQ(evaluation.of_k[0].classification.accuracy, 0.0);
}

TEST(EvaluateClassification, LeaveOneOutFitsTheNormalisationOnTheWholeTable) {
  const Table table = mixed_table(40, 6, true);
  EvaluateOptions options = options_of(Scheme::leave_one_out, {5});
  options.normalize.method = Normalization::z;
  const Table whole = Normalizer::fit(table, options.normalize).apply(table);
  VoteOptions vote;
  vote.exclude_self = true;
  const Classification result = KnnClassifier::fit(whole).predict(whole, vote);
  const auto& codes = table.columns[3].codes();
  expect_same(evaluate(table, options).of_k[0].classification,
              score_classification(result.classes, {codes.begin(), codes.end()}, result.codes));
}

TEST(EvaluateClassification, LeaveOneOutCanExcludeTheGroup) {
  // Within a group the nearest row has the same class, outside of it the other one.
  Table table = table_of({make_numeric("x", {0, 1, 2, 3}), make_nominal("patient", {0, 0, 1, 1}, {"p", "q"}),
                          as_label(make_nominal("class", {0, 0, 1, 1}, {"a", "b"}))});
  table.columns[1].role = Role::ignore;
  EvaluateOptions options = options_of(Scheme::leave_one_out, {1});
  const double with_group = evaluate(table, options).of_k[0].classification.accuracy;
  options.exclude_group = "patient";
  EXPECT_EQ(evaluate(table, options).of_k[0].classification.accuracy, 0.0);
  EXPECT_GT(with_group, 0.0);
}

TEST(EvaluateRegression, LeaveOneOutByHand) {
  // x = 0 1 3 7, y = 0 2 4 9; nearest others: 1, 0, 1, 3 -> predictions 2 0 2 4: errors -2 2 2 5.
  const Evaluation evaluation =
      evaluate(table_of({make_numeric("x", {0, 1, 3, 7}), as_label(make_numeric("y", {0, 2, 4, 9}))}),
               options_of(Scheme::leave_one_out, {1}));
  EXPECT_FALSE(evaluation.label_is_nominal);
  const RegressionScores& scores = evaluation.of_k[0].regression;
  EXPECT_EQ(scores.n_rows, 4);
  EXPECT_EQ(scores.rmse, std::sqrt(37.0 / 4.0));
  EXPECT_EQ(scores.mae, 11.0 / 4.0);
  EXPECT_NEAR(scores.r2, 1.0 - 37.0 / 44.75, 1e-15);
}

TEST(EvaluateRegression, CrossValidationEqualsFittingEachFoldByHand) {
  const Table table = mixed_table(50, 8, false);
  EvaluateOptions options = options_of(Scheme::cross_validation, {2, 9});
  options.n_folds = 5;
  options.seed = 31;
  options.normalize.method = Normalization::interquartile;
  const Evaluation evaluation = evaluate(table, options);
  const auto folds = cross_validation_folds(50, 5, 31);
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<double> truth(50), predicted(50);
    for (std::size_t f = 0; f < 5; ++f) {
      const auto [train, test] = split(table, folds[f], options.normalize);
      VoteOptions vote;
      vote.n_neighbors = options.ks[i];
      const std::vector<double> result = KnnRegressor::fit(train).predict(test, vote);
      double squares = 0.0;
      for (std::size_t j = 0; j < result.size(); ++j) {
        const auto row = static_cast<std::size_t>(folds[f][j]);
        truth[row] = table.columns[3].at(folds[f][j]);
        predicted[row] = result[j];
        squares += (truth[row] - result[j]) * (truth[row] - result[j]);
      }
      EXPECT_NEAR(evaluation.of_k[i].fold_scores[f], std::sqrt(squares / static_cast<double>(result.size())), 1e-14);
    }
    const RegressionScores expected = score_regression(truth, predicted);
    EXPECT_EQ(evaluation.of_k[i].regression.rmse, expected.rmse);
    EXPECT_EQ(evaluation.of_k[i].regression.mae, expected.mae);
    EXPECT_EQ(evaluation.of_k[i].regression.r2, expected.r2);
  }
  EXPECT_EQ(evaluation.report.pairs, 50 * 40);
}

TEST(EvaluateBest, TiesGoToTheSmallerK) {
  // One class only: every k is perfect.
  const Table table = table_of({make_numeric("x", {0, 1, 2, 3}), as_label(make_nominal("c", {0, 0, 0, 0}, {"a"}))});
  const Evaluation evaluation = evaluate(table, options_of(Scheme::leave_one_out, {3, 1, 2}));
  EXPECT_EQ(evaluation.best, 1u);
  EXPECT_EQ(evaluation.of_k[evaluation.best].k, 1);
}

TEST(EvaluateBest, RegressionTakesTheLowestRmse) {
  // Distances grow with the square, values alternate: one neighbour is always wrong by 2, two cancel better.
  const Table table =
      table_of({make_numeric("x", {0, 1, 2, 3, 4, 5}), as_label(make_numeric("y", {1, -1, 1, -1, 1, -1}))});
  const Evaluation evaluation = evaluate(table, options_of(Scheme::leave_one_out, {1, 4}));
  EXPECT_EQ(evaluation.of_k[0].regression.rmse, 2.0);
  EXPECT_LT(evaluation.of_k[1].regression.rmse, 2.0);
  EXPECT_EQ(evaluation.best, 1u);
}

TEST(EvaluateMissingLabels, AreAnErrorByDefault) {
  Table table = line_table();
  table.columns[1] = as_label(make_nominal("class", {0, 0, 1, kMissingCode, 1, 1}, {"a", "b"}));
  for (const Scheme scheme : {Scheme::cross_validation, Scheme::holdout, Scheme::leave_one_out}) {
    EvaluateOptions options = options_of(scheme, {1});
    options.n_folds = 2;
    expect_error(ErrorCode::invalid_data, "t.csv: column 'class', row 3: the label is missing",
                 [&] { evaluate(table, options); });
  }
}

TEST(EvaluateMissingLabels, TrainAsClassZeroUnderRapidMinerAndAreNotScored) {
  // x = 0 1 | 10 11. The label of 11 is missing, i.e. class a as a neighbour: row 10 (b) gets a, rows 0 and 1 are
  // right.
  Table table = table_of(
      {make_numeric("x", {0, 1, 10, 11}), as_label(make_nominal("class", {0, 0, 1, kMissingCode}, {"a", "b"}))});
  EvaluateOptions options = options_of(Scheme::leave_one_out, {1});
  options.knn.compat = Compat::rapidminer;
  const ClassificationScores scores = evaluate(table, options).of_k[0].classification;
  EXPECT_EQ(scores.n_rows, 3);
  EXPECT_EQ(scores.confusion_matrix(), (std::vector<std::int64_t>{2, 0, 0, 1, 0, 0}));
}

TEST(EvaluateOptionsChecks, ALabelIsNeeded) {
  const Table table = table_of({make_numeric("x", {0, 1, 2})});
  expect_error(ErrorCode::invalid_argument, "evaluation needs a label",
               [&] { evaluate(table, options_of(Scheme::leave_one_out, {1})); });
}

TEST(EvaluateOptionsChecks, KMustBePositiveAndFitTheTrainingPart) {
  const Table table = line_table();
  EvaluateOptions options = options_of(Scheme::leave_one_out, {});
  expect_error(ErrorCode::invalid_argument, "no k to evaluate", [&] { evaluate(table, options); });
  for (const std::int64_t k : {0, -1}) {
    options.ks = {1, k};
    expect_error(ErrorCode::invalid_argument, "k = " + std::to_string(k) + " is not positive",
                 [&] { evaluate(table, options); });
  }
  options.ks = {5};
  EXPECT_NO_THROW(evaluate(table, options)) << "5 other rows";
  options.ks = {6};
  expect_error(ErrorCode::invalid_argument, "k = 6 exceeds the 5 training rows", [&] { evaluate(table, options); });

  options.scheme = Scheme::cross_validation;
  options.n_folds = 4;  // folds of 2, 2, 1, 1 rows
  options.ks = {4};
  EXPECT_NO_THROW(evaluate(table, options));
  options.ks = {5};
  expect_error(ErrorCode::invalid_argument, "k = 5 exceeds the 4 training rows", [&] { evaluate(table, options); });
  options.knn.compat = Compat::rapidminer;
  EXPECT_NO_THROW(evaluate(table, options));
}

TEST(EvaluateOptionsChecks, SplitsMustBePossible) {
  const Table table = line_table();
  EvaluateOptions options = options_of(Scheme::cross_validation, {1});
  options.n_folds = 7;
  expect_error(ErrorCode::invalid_argument, "7 folds of 6 rows", [&] { evaluate(table, options); });
  options = options_of(Scheme::holdout, {1});
  options.holdout = 1.0;
  expect_error(ErrorCode::invalid_argument, "is not between 0 and 1", [&] { evaluate(table, options); });
  expect_error(ErrorCode::invalid_argument, "leave-one-out needs at least 2 rows, there are 1",
               [&] { evaluate(table.take({0}), options_of(Scheme::leave_one_out, {1})); });
}

TEST(EvaluateOptionsChecks, GroupsNeedLeaveOneOut) {
  EvaluateOptions options = options_of(Scheme::holdout, {1});
  options.exclude_group = "patient";
  expect_error(ErrorCode::invalid_argument, "the group 'patient'", [&] { evaluate(line_table(), options); });
}

TEST(EvaluateRun, TheResultDoesNotDependOnThreads) {
  const Table table = mixed_table(90, 12, true);
  EvaluateOptions options = options_of(Scheme::cross_validation, {1, 5, 20});
  options.normalize.method = Normalization::z;
  RunOptions run;
  run.threads = 1;
  const Evaluation expected = evaluate(table, options, run);
  for (const int threads : {2, 3, 8}) {
    run.threads = threads;
    const Evaluation actual = evaluate(table, options, run);
    EXPECT_EQ(actual.best, expected.best);
    for (std::size_t i = 0; i < 3; ++i) {
      expect_same(actual.of_k[i].classification, expected.of_k[i].classification);
      EXPECT_EQ(actual.of_k[i].fold_scores, expected.of_k[i].fold_scores);
    }
  }
}

TEST(EvaluateRun, ReportsAllFoldsTogether) {
  EvaluateOptions options = options_of(Scheme::cross_validation, {1, 2});
  options.n_folds = 10;
  const Evaluation evaluation = evaluate(mixed_table(103, 3, true), options);
  // Three folds have 11 rows, seven have 10. Each takes one search, whatever the number of ks.
  EXPECT_EQ(evaluation.report.pairs, 3 * 11 * 92 + 7 * 10 * 93);
  EXPECT_EQ(evaluation.report.method, "reference");  // too few pairs for anything else
  EXPECT_EQ(evaluation.report.evaluated, evaluation.report.pairs);
  EXPECT_GE(evaluation.report.threads, 1);
}

TEST(EvaluateRun, ProgressNeverDecreasesWithinAPhase) {
  EvaluateOptions options = options_of(Scheme::cross_validation, {1});
  options.n_folds = 3;
  RunOptions run;
  std::map<std::string, std::int64_t, std::less<>> last;
  run.progress = [&](std::string_view phase, std::int64_t done, std::int64_t) {
    const auto [at, inserted] = last.try_emplace(std::string(phase), done);
    EXPECT_GE(done, at->second) << phase;
    at->second = done;
  };
  evaluate(mixed_table(300, 3, true), options, run);
  for (const char* fold : {"fold 1/3 ", "fold 2/3 ", "fold 3/3 "}) {
    EXPECT_TRUE(std::any_of(last.begin(), last.end(), [&](const auto& p) { return p.first.starts_with(fold); }))
        << fold;
  }
}

TEST(EvaluateRun, StopsWhenCancelled) {
  for (const Scheme scheme : {Scheme::cross_validation, Scheme::holdout, Scheme::leave_one_out}) {
    EvaluateOptions options = options_of(scheme, {1});
    RunOptions run;
    run.cancel.cancel();
    expect_error(ErrorCode::cancelled, "cancelled", [&] { evaluate(mixed_table(50, 3, true), options, run); });
  }
}

TEST(EvaluateRun, SplitsThatDoNotFitGoToAFile) {
  const Table table = mixed_table(100, 3, true);
  EvaluateOptions options = options_of(Scheme::cross_validation, {1});
  const Evaluation want = evaluate(table, options);
  RunOptions run;
  run.memory_limit = 20000;
  ASSERT_GT(table.bytes(), run.memory_limit / 2 / 10);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Evaluation got = evaluate(table, options, run);
    EXPECT_EQ(got.of_k[0].classification.confusion, want.of_k[0].classification.confusion);
    run.memory_limit = 2 * table.bytes() - 1;  // the splits are as large as the table
  }
}

TEST(EvaluateRun, EveryFailedAllocationIsACleanError) {
  const Table table = mixed_table(20, 3, true);
  EvaluateOptions options = options_of(Scheme::cross_validation, {1, 3});
  options.n_folds = 2;
  options.normalize.method = Normalization::z;
  RunOptions run;
  run.threads = 1;
  std::int64_t failures = 0;
  for (bool failed = true; failed; failures += failed ? 1 : 0) {
    ASSERT_LT(failures, 1000);
    fault::arm_alloc(failures + 1);
    failed = false;
    try {
      evaluate(table, options, run);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      failed = true;
    }
    fault::arm_alloc(0);
  }
  // Each fold allocates at least four columns of each part, and two scratch or normalised columns of each part.
  EXPECT_GE(failures, 2 * 12);
}

}  // namespace
}  // namespace stope
