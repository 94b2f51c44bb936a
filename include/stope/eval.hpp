// Evaluation: splits, scores, and cross-validation / hold-out / leave-one-out of k-NN models for one or many k.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/knn.hpp"
#include "stope/normalize.hpp"
#include "stope/tree.hpp"

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

/// Test rows of every fold, ascending; every row is in exactly one fold. Fold sizes differ by at most 1. `labels`
/// (codes, missing = a class of its own) makes the folds stratified: the rows of a class spread over the folds with
/// counts that differ by at most 1, also where a class has fewer rows than there are folds. Empty = plain shuffled
/// folds. Deterministic in the seed on every machine. Throws invalid_argument unless 2 <= n_folds <= n_rows.
std::vector<std::vector<std::int64_t>> cross_validation_folds(std::int64_t n_rows, std::int64_t n_folds,
                                                              std::uint64_t seed,
                                                              const std::vector<std::int32_t>& labels = {});

/// Test rows of a hold-out split, ascending: round(fraction * n) of them, at least 1 and at most n - 1, stratified
/// by largest remainders where `labels` is given (equal remainders: the lower code first, missing before all codes).
/// Throws invalid_argument unless 0 < fraction < 1 and n_rows >= 2.
std::vector<std::int64_t> holdout_rows(std::int64_t n_rows, double fraction, std::uint64_t seed,
                                       const std::vector<std::int32_t>& labels = {});

enum class Scheme { cross_validation, holdout, leave_one_out };
Scheme scheme(std::string_view name);  ///< "cross-validation", "hold-out", "leave-one-out"; else invalid_argument
std::string_view to_string(Scheme scheme) noexcept;

struct EvaluateOptions {
  /// feature_weights follow the order of the table's features, even under Compat::rapidminer, where normalising puts
  /// the numeric features first.
  KnnOptions knn;
  VoteWeights weights = VoteWeights::uniform;
  NormalizeOptions normalize;
  Scheme scheme = Scheme::cross_validation;
  std::int64_t n_folds = 10;
  double holdout = 0.3;
  std::uint64_t seed = 0;
  std::vector<std::int64_t> ks = {5};
  std::string exclude_group = {};  ///< leave-one-out only (else an error): rows of the same group are no neighbours
};

/// Scores for one k over all test rows of all folds together.
struct EvaluationOfK {
  std::int64_t k = 0;
  ClassificationScores classification;  ///< filled when the label is nominal
  RegressionScores regression;          ///< filled when the label is numeric
  std::vector<double> fold_scores;      ///< accuracy or RMSE per fold, one for a hold-out, none for leave-one-out
};

struct Evaluation {
  std::vector<EvaluationOfK> of_k;  ///< in the order of EvaluateOptions::ks
  std::size_t best = 0;             ///< highest accuracy / lowest RMSE; ties go to the smaller k, NaN is worst
  bool label_is_nominal = false;    ///< classification (else regression)
  SearchReport report;              ///< sums over all folds
};

/// Evaluates k-NN on one table with a label: nominal = classification (stratified splits), numeric = regression (plain
/// splits). Normalisation is fitted on each fold's training rows; leave-one-out fits it once, on the whole table. One
/// search per fold serves every k. Throws invalid_argument without a label, for bad options and for a k larger than a
/// training part (Compat::rapidminer allows any k >= 1). Throws invalid_data for a missing label; under
/// Compat::rapidminer such a row trains as class 0 and is left out of the scores. Holds one copy of the table, or two
/// if it normalises; they are in a mapped file where the memory budget is short.
Evaluation evaluate(const Table& table, const EvaluateOptions& options, const RunOptions& run = {});

/// The options of a tree, and the rows with which it is pruned.
struct TreeFitOptions {
  TreeOptions tree;
  double prune_holdout = 0.0;  ///< above 0: this share of the rows prunes (reduced error) instead of growing
  std::uint64_t seed = 0;      ///< for the stratified choice of those rows
};

/// Grows a tree; if prune_holdout is above 0, it grows on part of the rows and prunes with the others. Throws what
/// DecisionTree::fit, holdout_rows and DecisionTree::prune_reduced_error throw.
DecisionTree fit_tree(const Table& table, const TreeFitOptions& options, const RunOptions& run = {});

struct TreeEvaluationOptions {
  TreeFitOptions fit;
  Scheme scheme = Scheme::cross_validation;
  std::int64_t n_folds = 10;
  double holdout = 0.3;
  std::uint64_t seed = 0;
};

/// Scores over all test rows of all folds together.
struct TreeEvaluation {
  ClassificationScores scores;
  std::vector<double> fold_scores;  ///< accuracy per fold, one for a hold-out, none for leave-one-out
  double mean_leaves = 0.0;         ///< mean over the trees of all folds
};

/// Evaluates trees on one table: one is grown on each split's training rows, and splits are stratified. A row that gets
/// no class under MissingPolicy::drop counts as wrong. Leave-one-out grows as many trees as there are rows. Throws
/// invalid_argument without a nominal label and for bad options, and what fit_tree throws.
TreeEvaluation evaluate_tree(const Table& table, const TreeEvaluationOptions& options, const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
