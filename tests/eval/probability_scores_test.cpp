// ROC AUC by counting every pair of rows, log loss and balanced accuracy by their definitions: ties, missing classes,
// rows without confidences, threads.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/scores.hpp"

namespace stope {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

using Codes = std::vector<std::int32_t>;
using Numbers = std::vector<double>;

// The chance that a row of the class has the higher confidence of it, pair by pair; NaN without a pair.
double slow_area(const Codes& truth, const Numbers& confidences, std::size_t n_classes, std::int32_t of) {
  double right = 0.0, pairs = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = 0; j < truth.size(); ++j) {
      if (truth[i] != of || truth[j] == of || truth[j] == kMissingCode) continue;
      const double own = confidences[i * n_classes + static_cast<std::size_t>(of)];
      const double other = confidences[j * n_classes + static_cast<std::size_t>(of)];
      pairs += 1.0;
      right += own > other ? 1.0 : own == other ? 0.5 : 0.0;
    }
  }
  return right / pairs;
}

struct Case {
  Codes truth;
  Numbers confidences;
};

// Votes of five neighbours: many ties.
Case votes(std::int64_t n_rows, std::int32_t n_classes, std::int32_t n_present, std::uint64_t seed) {
  Random random(seed);
  Case made;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    made.truth.push_back(random.below(10) == 0
                             ? kMissingCode
                             : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n_present))));
    Numbers shares(static_cast<std::size_t>(n_classes), 0.0);
    for (int vote = 0; vote < 5; ++vote) {
      const bool knows = made.truth.back() >= 0 && random.below(2) == 0;
      const std::size_t c =
          knows ? static_cast<std::size_t>(made.truth.back()) : random.below(static_cast<std::uint64_t>(n_classes));
      shares[c] += 0.2;
    }
    made.confidences.insert(made.confidences.end(), shares.begin(), shares.end());
  }
  return made;
}

Values names(std::int32_t n) {
  std::vector<std::string> all;
  for (std::int32_t c = 0; c < n; ++c) all.push_back("class " + std::to_string(c));
  return all;
}

TEST(RocAuc, OfTwoClassesIsTheShareOfPairsInTheRightOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case made = votes(60, 2, 2, seed);
    const ProbabilityScores scores = score_probabilities(names(2), made.truth, made.confidences);
    EXPECT_DOUBLE_EQ(scores.roc_auc, slow_area(made.truth, made.confidences, 2, 1)) << seed;
  }
}

TEST(RocAuc, OfMoreClassesIsTheMeanOverThoseThatRowsHave) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::int32_t n_present = 2 + static_cast<std::int32_t>(seed % 3);
    const Case made = votes(60, 4, n_present, seed);
    double sum = 0.0;
    for (std::int32_t c = 0; c < n_present; ++c) sum += slow_area(made.truth, made.confidences, 4, c);
    const ProbabilityScores scores = score_probabilities(names(4), made.truth, made.confidences);
    EXPECT_NEAR(scores.roc_auc, sum / n_present, 1e-14) << seed;
  }
}

TEST(RocAuc, DoesNotDependOnTheNumberOfThreads) {
  const Case made = votes(20'000, 5, 5, 3);  // enough for several threads
  const double one = score_probabilities(names(5), made.truth, made.confidences, {.threads = 1}).roc_auc;
  EXPECT_EQ(one, score_probabilities(names(5), made.truth, made.confidences, {.threads = 4}).roc_auc);
  EXPECT_GT(one, 0.6);
}

TEST(LogLoss, IsTheMeanOfClippedLogarithms) {
  const ProbabilityScores scores =
      score_probabilities({"a", "b"}, {0, 1, 1, kMissingCode}, Numbers{0.8, 0.2, 0.25, 0.75, 1.0, 0.0, 0.5, 0.5});
  EXPECT_EQ(scores.n_rows, 3);
  const double eps = std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(scores.log_loss, -(std::log(0.8) + std::log(0.75) + std::log(eps)) / 3.0, 1e-14);
  // A confidence of 1 is clipped, too.
  EXPECT_EQ(score_probabilities({"a", "b"}, {0}, Numbers{1.0, 0.0}).log_loss, -std::log(1.0 - eps));
}

TEST(ProbabilityScores, LeaveOutRowsThatNobodyVotedFor) {
  const ProbabilityScores scores =
      score_probabilities({"a", "b"}, {0, 1, 1, 0}, Numbers{0.8, 0.2, 0.4, 0.6, kNaN, kNaN, 0.0, 0.0});
  EXPECT_EQ(scores.n_rows, 2);
  EXPECT_EQ(scores.roc_auc, 1.0);
  EXPECT_NEAR(scores.log_loss, -(std::log(0.8) + std::log(0.6)) / 2.0, 1e-15);
}

TEST(ProbabilityScores, AreNotANumberWhereNothingCanBeCompared) {
  const ProbabilityScores nobody = score_probabilities({"a", "b"}, {}, Numbers{});
  EXPECT_TRUE(std::isnan(nobody.roc_auc) && std::isnan(nobody.log_loss));
  const ProbabilityScores alone = score_probabilities({"a", "b"}, {1, 1}, Numbers{0.5, 0.5, 0.1, 0.9});
  EXPECT_TRUE(std::isnan(alone.roc_auc));
  EXPECT_FALSE(std::isnan(alone.log_loss));
  EXPECT_TRUE(std::isnan(score_probabilities({"a"}, {0}, Numbers{1.0}).roc_auc));
}

TEST(ProbabilityScores, RefuseCodesAndLengthsThatDoNotFit) {
  expect_error(ErrorCode::invalid_argument, "row 0: class code 2 is outside the 2 classes",
               [&] { score_probabilities({"a", "b"}, {2}, Numbers{0.5, 0.5}); });
  expect_error(ErrorCode::invalid_argument, "1 confidences for 1 rows and 2 classes",
               [&] { score_probabilities({"a", "b"}, {0}, Numbers{0.5}); });
}

TEST(BalancedAccuracy, IsTheMeanRecallOfTheClassesThatOccur) {
  // scikit-learn 1.7: balanced_accuracy_score([0,0,0,1,1,3], [0,0,1,1,0,3]) == (2/3 + 1/2 + 1) / 3
  const ClassificationScores scores =
      score_classification({"a", "b", "c", "d"}, {0, 0, 0, 1, 1, 3}, {0, 0, 1, 1, 0, 3});
  EXPECT_NEAR(balanced_accuracy(scores), (2.0 / 3 + 0.5 + 1.0) / 3, 1e-15);
  EXPECT_TRUE(std::isnan(balanced_accuracy(score_classification({"a"}, {}, {}))));
}

}  // namespace
}  // namespace stope
