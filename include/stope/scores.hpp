// Scores of predictions against known labels: classes, numbers, confidences (docs/numerics/eval.md).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "stope/run.hpp"
#include "stope/table.hpp"
#include "stope/vote.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// How many rows of class `truth` were predicted as `predicted`; kMissingCode stands for a missing prediction.
struct ConfusionCell {
  std::int32_t truth = 0, predicted = 0;
  std::int64_t n_rows = 0;
  friend bool operator==(const ConfusionCell&, const ConfusionCell&) = default;
};

/// Scores of predicted classes against known ones. A row counts if its true label is present; a missing prediction of
/// a counted row is wrong. Without a counted row accuracy, kappa and macro F1 are NaN.
struct ClassificationScores {
  Values classes;
  std::int64_t n_rows = 0;  ///< rows counted
  /// The cells of the confusion matrix that are not 0, ordered by true class, then by predicted class, a missing
  /// prediction last. There are no more of them than rows, however many classes there are.
  std::vector<ConfusionCell> confusion;
  double accuracy = 0;
  double kappa = 0;                           ///< Cohen's kappa; NaN where expected agreement is 1, as in scikit-learn
  std::vector<double> precision, recall, f1;  ///< per class; 0 where undefined (scikit-learn's zero_division=0)
  std::vector<std::int64_t> support;
  double macro_f1 = 0;  ///< mean F1 of the classes that occur in truths or predictions, as in scikit-learn

  /// The whole matrix for few classes, classes x (classes + 1): true class by predicted class, last = missing. Throws
  /// out_of_memory if it needs more than the address space.
  std::vector<std::int64_t> confusion_matrix() const;
};

/// Scores `predicted` against `truth`; both index `classes`, and kMissingCode is a missing value. Throws
/// invalid_argument for other codes and for lengths that differ. O(rows log rows + classes).
ClassificationScores score_classification(const Values& classes, const std::vector<std::int32_t>& truth,
                                          const std::vector<std::int32_t>& predicted);

/// Bytes that score_classification takes for every row, besides its arguments.
std::int64_t score_bytes_per_row(const Values& classes) noexcept;

/// Scores of predicted numbers. Rows with a NaN truth are left out; a NaN prediction makes the scores NaN.
struct RegressionScores {
  std::int64_t n_rows = 0;
  double rmse = 0, mae = 0;  ///< NaN if no row counts
  double r2 =
      0;  ///< 1 - SS_res/SS_tot; constant truth: 1 if perfect, else 0; NaN below two rows; all as in scikit-learn
};

/// Scores `predicted` against `truth`. Throws invalid_argument for lengths that differ. The sums do not depend on the
/// number of threads.
RegressionScores score_regression(const std::vector<double>& truth, const std::vector<double>& predicted);

/// Scores predictions against the label of another table, whose values are matched by name. A value that is none of the
/// predicted classes becomes one more class, behind them, which no prediction can hit: such a row counts as wrong, and
/// `run` is warned of such rows (warning::kUnknownLabels). Throws invalid_argument where the label is numeric or the
/// lengths differ.
ClassificationScores score_against(const Column& label, const Classification& predicted, const RunOptions& run = {});
/// Scores numbers against a numeric label; throws as above.
RegressionScores score_against(const Column& label, const std::vector<double>& predicted);

/// Mean recall of the classes that occur among the truths, as scikit-learn's balanced_accuracy_score. NaN without a
/// counted row.
double balanced_accuracy(const ClassificationScores& scores);

/// Scores of confidences. A row counts if its true label is present and it has confidences: one without a prediction
/// has only NaN or zeros.
struct ProbabilityScores {
  std::int64_t n_rows = 0;  ///< rows counted
  /// Two classes: the chance that a row of the second class has a higher confidence of it than a row of the first; a
  /// tie counts half. More classes: the mean over those that some, but not all, rows have, each against the rest
  /// (scikit-learn's multi_class="ovr", average="macro"). NaN if there is no such class.
  double roc_auc = std::numeric_limits<double>::quiet_NaN();
  /// Mean of -ln of the true class's confidence, clipped to [2^-52, 1 - 2^-52] as in scikit-learn. NaN without a row.
  double log_loss = std::numeric_limits<double>::quiet_NaN();
};

/// Scores `confidences` (rows x classes, row-major) against `truth`, which indexes `classes`; kMissingCode is a missing
/// label. Throws invalid_argument for other codes and for lengths that differ. The bits do not depend on the number of
/// threads. O(rows log rows) for every class.
ProbabilityScores score_probabilities(const Values& classes, const std::vector<std::int32_t>& truth,
                                      std::span<const double> confidences, const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
