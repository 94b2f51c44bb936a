// Scores: confusion matrix, accuracy, kappa, precision, recall, F1; RMSE, MAE, R2; the undefined cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/warning.hpp"

namespace stope {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTight = 1e-15;

using Codes = std::vector<std::int32_t>;
using Counts = std::vector<std::int64_t>;

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], kTight) << "class " << i;
}

void expect_invalid(const std::string& message, const std::function<void()>& act) {
  try {
    act();
    FAIL() << "no exception, expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.what(), message);
  }
}

TEST(ClassificationScores, AgreeWithScikitLearn) {
  // t = [0,1,2,2,1,0,1,2,0,1]; p = [0,2,2,1,1,0,1,2,1,1]; scikit-learn 1.9.1:
  // accuracy_score(t, p), cohen_kappa_score(t, p), precision_recall_fscore_support(t, p, zero_division=0),
  // f1_score(t, p, average='macro')
  const ClassificationScores scores =
      score_classification({"a", "b", "c"}, {0, 1, 2, 2, 1, 0, 1, 2, 0, 1}, {0, 2, 2, 1, 1, 0, 1, 2, 1, 1});
  EXPECT_EQ(scores.n_rows, 10);
  EXPECT_EQ(scores.confusion_matrix(), (Counts{2, 1, 0, 0, 0, 3, 1, 0, 0, 1, 2, 0}));
  EXPECT_EQ(scores.support, (Counts{3, 4, 3}));
  EXPECT_EQ(scores.accuracy, 0.7);
  EXPECT_NEAR(scores.kappa, 0.5384615384615384, kTight);
  expect_near(scores.precision, {1.0, 0.6, 2.0 / 3});
  expect_near(scores.recall, {2.0 / 3, 0.75, 2.0 / 3});
  expect_near(scores.f1, {0.8, 2.0 / 3, 2.0 / 3});
  EXPECT_NEAR(scores.macro_f1, 0.7111111111111111, kTight);
}

TEST(ClassificationScores, AMissingPredictionIsWrong) {
  // Two of these predictions are missing. For scikit-learn they are a class 3 that no row has:
  // p = [0,2,2,1,3,0,1,2,3,1], labels=[0,1,2,3], means over labels=[0,1,2].
  const ClassificationScores scores = score_classification({"a", "b", "c"}, {0, 1, 2, 2, 1, 0, 1, 2, 0, 1},
                                                           {0, 2, 2, 1, kMissingCode, 0, 1, 2, kMissingCode, 1});
  EXPECT_EQ(scores.confusion_matrix(), (Counts{2, 0, 0, 1, 0, 2, 1, 1, 0, 1, 2, 0}));
  EXPECT_EQ(scores.accuracy, 0.6);
  EXPECT_NEAR(scores.kappa, 0.452054794520548, kTight);
  expect_near(scores.precision, {1.0, 2.0 / 3, 2.0 / 3});
  expect_near(scores.recall, {2.0 / 3, 0.5, 2.0 / 3});
  expect_near(scores.f1, {0.8, 4.0 / 7, 2.0 / 3});
  EXPECT_NEAR(scores.macro_f1, 0.6793650793650793, kTight);
}

TEST(ClassificationScores, RowsWithoutTruthDoNotCount) {
  const ClassificationScores scores =
      score_classification({"a", "b"}, {0, kMissingCode, 1, kMissingCode}, {0, 1, 0, kMissingCode});
  EXPECT_EQ(scores.n_rows, 2);
  EXPECT_EQ(scores.confusion_matrix(), (Counts{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(scores.accuracy, 0.5);
  EXPECT_EQ(scores.precision, (std::vector<double>{0.5, 0.0}));
}

TEST(ClassificationScores, WhatIsUndefinedIsZero) {
  // f1_score([0,0,1], [0,0,0], average='macro', zero_division=0) = 0.4, cohen_kappa_score = 0
  const ClassificationScores scores = score_classification({"a", "b"}, {0, 0, 1}, {0, 0, 0});
  EXPECT_EQ(scores.precision[1], 0.0) << "never predicted";
  EXPECT_EQ(scores.recall[1], 0.0);
  EXPECT_EQ(scores.f1[1], 0.0);
  EXPECT_NEAR(scores.macro_f1, 0.4, kTight);
  EXPECT_EQ(scores.kappa, 0.0);
}

TEST(ClassificationScores, ClassesThatDoNotOccurAreLeftOutOfTheMean) {
  const ClassificationScores scores = score_classification({"x", "a", "b", "y"}, {1, 1, 2}, {1, 1, 1});
  EXPECT_EQ(scores.f1[0], 0.0);
  EXPECT_EQ(scores.support, (Counts{0, 2, 1, 0}));
  EXPECT_NEAR(scores.macro_f1, 0.4, kTight);
  EXPECT_EQ(scores.confusion_matrix().size(), 4u * 5u);
  // The class is predicted though no row has it: it occurs, and its F1 is 0.
  EXPECT_EQ(score_classification({"a", "b"}, {0, 0}, {0, 1}).macro_f1, (2.0 / 3 + 0.0) / 2);
}

TEST(ClassificationScores, ManyClassesAreCountedAsACounterForEveryPairCounts) {
  for (const std::int32_t n_classes : {63, 64, 65, 300}) {
    Random random(static_cast<std::uint64_t>(n_classes));
    const auto draw = [&] {
      return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n_classes) + 1)) - 1;
    };
    std::vector<std::string> names;
    for (std::int32_t c = 0; c < n_classes; ++c) names.push_back("c" + std::to_string(c));
    Codes truth, predicted;
    Counts counts(static_cast<std::size_t>(n_classes * (n_classes + 1)));
    std::int64_t n_rows = 0, right = 0;
    for (int row = 0; row < 3000; ++row) {
      truth.push_back(draw());
      predicted.push_back(random.below(3) == 0 ? truth.back() : draw());
      if (truth.back() < 0) continue;
      ++n_rows;
      right += truth.back() == predicted.back() ? 1 : 0;
      const std::int32_t column = predicted.back() < 0 ? n_classes : predicted.back();
      ++counts[static_cast<std::size_t>(truth.back() * (n_classes + 1) + column)];
    }
    const ClassificationScores scores = score_classification(names, truth, predicted);
    EXPECT_EQ(scores.confusion_matrix(), counts) << n_classes;
    EXPECT_EQ(scores.n_rows, n_rows);
    EXPECT_EQ(scores.accuracy, static_cast<double>(right) / static_cast<double>(n_rows));
    EXPECT_LE(std::ssize(scores.confusion), n_rows);
    const auto missing_last = [](const ConfusionCell& cell) {
      return std::pair(cell.truth, static_cast<std::uint32_t>(cell.predicted));
    };
    EXPECT_TRUE(std::is_sorted(scores.confusion.begin(), scores.confusion.end(),
                               [&](const auto& a, const auto& b) { return missing_last(a) < missing_last(b); }));
  }
}

TEST(ClassificationScores, AHundredThousandClassesTakeNoMoreThanTheirRows) {
  const Values classes(std::vector<std::string>(100000, "c"));
  const ClassificationScores scores = score_classification(classes, {99999, 5}, {99999, kMissingCode});
  EXPECT_EQ(scores.confusion, (std::vector<ConfusionCell>{{5, kMissingCode, 1}, {99999, 99999, 1}}));
  EXPECT_EQ(scores.accuracy, 0.5);
}

TEST(ClassificationScores, PerfectAndOppositeKappa) {
  EXPECT_EQ(score_classification({"a", "b"}, {0, 1, 1}, {0, 1, 1}).kappa, 1.0);
  EXPECT_EQ(score_classification({"a", "b"}, {0, 1}, {1, 0}).kappa, -1.0);
}

TEST(ClassificationScores, KappaOfOneClassIsNaN) {
  for (const std::size_t n : {1, 3, 33}) {
    const Codes zeros(n, 0);
    EXPECT_TRUE(std::isnan(score_classification({"a"}, zeros, zeros).kappa));
    EXPECT_TRUE(std::isnan(score_classification({"a", "b"}, zeros, zeros).kappa));
    EXPECT_EQ(score_classification({"a", "b"}, zeros, zeros).accuracy, 1.0);
  }
}

TEST(ClassificationScores, OfNoRowsAreNaN) {
  for (const Codes& truth : {Codes{}, Codes{kMissingCode, kMissingCode}}) {
    const ClassificationScores scores = score_classification({"a", "b"}, truth, Codes(truth.size(), 0));
    EXPECT_EQ(scores.n_rows, 0);
    EXPECT_TRUE(std::isnan(scores.accuracy));
    EXPECT_TRUE(std::isnan(scores.kappa));
    EXPECT_TRUE(std::isnan(scores.macro_f1));
    EXPECT_EQ(scores.confusion_matrix(), (Counts{0, 0, 0, 0, 0, 0}));
  }
}

TEST(ClassificationScores, RefuseBadInput) {
  expect_invalid("2 true labels and 1 predictions: the numbers differ",
                 [] { score_classification({"a"}, {0, 0}, {0}); });
  expect_invalid("row 1: class code 2 is outside the 2 classes",
                 [] { score_classification({"a", "b"}, {0, 2}, {0, 0}); });
  expect_invalid("row 0: class code -2 is outside the 2 classes",
                 [] { score_classification({"a", "b"}, {0, 0}, {kUnseenCode, 0}); });
}

TEST(ScoresAgainst, MatchNamesAndWarnOfLabelsThatTrainingDoesNotKnow) {
  const Column label =
      make_nominal("class", {0, 1, 2, kMissingCode, 3, 0, 4, 5}, {"no", "new", "yes", "newer", "n3", "n4"});
  const Classification predicted{{"yes", "no"}, {1, 1, 0, 0, 1, 0, 1, 1}, {}};
  RunOptions run;
  std::vector<std::pair<std::string, std::string>> told;
  run.warn = [&](std::string_view code, std::string_view text) { told.emplace_back(code, text); };
  const ClassificationScores scores = score_against(label, predicted, run);
  EXPECT_EQ(scores.classes, Values({"yes", "no", "new", "newer", "n3", "n4"}));
  EXPECT_EQ(scores.n_rows, 7);
  EXPECT_EQ(scores.accuracy, 2.0 / 7.0);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].first, warning::kUnknownLabels);
  EXPECT_EQ(told[0].second,
            "4 of 7 rows with a label that training does not know, counted as wrong: 'new', 'newer', 'n3', ...");
  EXPECT_EQ(score_against(label, predicted).n_rows, 7) << "nobody listens";
  score_against(make_nominal("class", {0, 1}, {"no", "yes"}), {{"yes", "no"}, {1, 1}, {}}, run);
  EXPECT_EQ(told.size(), 1U) << "every label is known";
}

TEST(RegressionScores, AgreeWithScikitLearn) {
  // t = [3, -0.5, 2, 7]; p = [2.5, 0, 2, 8]: mean_squared_error(t, p) ** 0.5, mean_absolute_error, r2_score
  const RegressionScores scores = score_regression({3.0, -0.5, 2.0, 7.0}, {2.5, 0.0, 2.0, 8.0});
  EXPECT_EQ(scores.n_rows, 4);
  EXPECT_NEAR(scores.rmse, 0.6123724356957945, kTight);
  EXPECT_NEAR(scores.mae, 0.5, kTight);
  EXPECT_NEAR(scores.r2, 0.9486081370449679, kTight);
}

TEST(RegressionScores, R2OfAConstantTruth) {
  EXPECT_EQ(score_regression({2.0, 2.0}, {2.0, 2.0}).r2, 1.0);
  EXPECT_EQ(score_regression({2.0, 2.0}, {2.0, 3.0}).r2, 0.0);
  // The rounded mean of ten 0.1 is not 0.1, which must not make R2 a huge negative number.
  const std::vector<double> tenths(10, 0.1);
  EXPECT_EQ(score_regression(tenths, std::vector<double>(10, 0.2)).r2, 0.0);
  EXPECT_EQ(score_regression(tenths, tenths).r2, 1.0);
}

TEST(RegressionScores, R2NeedsTwoRows) {
  const RegressionScores one = score_regression({2.0}, {3.0});
  EXPECT_EQ(one.rmse, 1.0);
  EXPECT_EQ(one.mae, 1.0);
  EXPECT_TRUE(std::isnan(one.r2));
}

TEST(RegressionScores, NeitherOverflowNorVanishAtAnyMagnitude) {
  const std::vector<double> truth = {3.0, -0.5, 2.0, 7.0, 0.0}, predicted = {2.5, 0.25, 2.0, 8.0, -1.0};
  const RegressionScores usual = score_regression(truth, predicted);
  for (const int exponent : {-1060, -1000, -600, -401, -300, 300, 480, 481, 600, 1020}) {
    std::vector<double> t, p;
    for (const double value : truth) t.push_back(std::ldexp(value, exponent));
    for (const double value : predicted) p.push_back(std::ldexp(value, exponent));
    const RegressionScores scores = score_regression(t, p);
    EXPECT_EQ(scores.rmse, std::ldexp(usual.rmse, exponent)) << exponent;
    EXPECT_EQ(scores.mae, std::ldexp(usual.mae, exponent)) << exponent;
    EXPECT_EQ(scores.r2, usual.r2) << exponent;
  }
  EXPECT_EQ(score_regression({1e308, 0.0}, {-1e308, 0.0}).mae, 1e308);
  EXPECT_EQ(score_regression({1e300}, {0.0}).rmse, 1e300);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(score_regression({1.0, 2.0}, {kInfinity, 2.0}).rmse, kInfinity);
}
TEST(RegressionScores, RowsWithoutTruthDoNotCount) {
  const RegressionScores scores = score_regression({1.0, kNaN, 3.0}, {2.0, kNaN, 3.0});
  EXPECT_EQ(scores.n_rows, 2);
  EXPECT_EQ(scores.mae, 0.5);
  EXPECT_EQ(scores.r2, 0.5);
}

TEST(RegressionScores, AMissingPredictionMakesThemNaN) {
  for (const std::vector<double>& truth : {std::vector<double>{1.0, 2.0}, {2.0, 2.0}}) {
    const RegressionScores scores = score_regression(truth, {1.0, kNaN});
    EXPECT_TRUE(std::isnan(scores.rmse));
    EXPECT_TRUE(std::isnan(scores.mae));
    EXPECT_TRUE(std::isnan(scores.r2));
  }
}

TEST(RegressionScores, OfNoRowsAreNaNAndLengthsMustAgree) {
  const RegressionScores none = score_regression({kNaN}, {1.0});
  EXPECT_EQ(none.n_rows, 0);
  EXPECT_TRUE(std::isnan(none.rmse));
  EXPECT_TRUE(std::isnan(none.mae));
  EXPECT_TRUE(std::isnan(none.r2));
  expect_invalid("1 true labels and 0 predictions: the numbers differ", [] { score_regression({1.0}, {}); });
}

}  // namespace
}  // namespace stope
