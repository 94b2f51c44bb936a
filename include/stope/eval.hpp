// Evaluation: splits, and cross-validation, hold-out and leave-one-out of k-NN models for one or many k, several
// measures and normalisations, of trees and of least squares.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "stope/knn.hpp"
#include "stope/lsq.hpp"
#include "stope/normalize.hpp"
#include "stope/scores.hpp"
#include "stope/tree.hpp"

#pragma GCC visibility push(default)
namespace stope {

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

/// What an evaluation keeps of the predictions that it scored.
enum class Predictions { dropped, kept };

/// What models predicted for rows that they had not seen. Element i belongs to one row in one repetition. Sorted by
/// repetition, then by fold, then by row.
struct OutOfFold {
  std::vector<std::int64_t> rows, folds, repeats;  ///< numbers from 0
  std::vector<std::int32_t> codes;                 ///< nominal label: predicted classes
  std::vector<double> confidences;                 ///< elements x classes, row-major, if they were computed
  std::vector<double> numbers;                     ///< numeric label
};

/// The scores of one repetition, all its test rows together. Those that the label does not have are NaN.
struct RepeatScores {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double accuracy = kNone, balanced_accuracy = kNone, kappa = kNone, macro_f1 = kNone, roc_auc = kNone,
         log_loss = kNone;                       ///< nominal label
  double rmse = kNone, mae = kNone, r2 = kNone;  ///< numeric label
};

/// Mean and standard deviation (ddof 1) of one score over repetitions; the deviation of a single one is NaN.
struct Spread {
  double mean = RepeatScores::kNone, deviation = RepeatScores::kNone;
};
Spread spread(const std::vector<RepeatScores>& repeats, double RepeatScores::* score);

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
  /// Repetitions of a cross-validation or hold-out: repetition r is the one with the seed `seed` + r.
  std::int64_t n_repeats = 1;
  Confidences confidences = Confidences::none;     ///< all: ROC AUC and log loss are computed, too
  Predictions predictions = Predictions::dropped;  ///< kept: those of the best k
};

/// Scores for one k over all test rows of all folds, and all repetitions, together.
struct EvaluationOfK {
  std::int64_t k = 0;
  ClassificationScores classification;  ///< filled when the label is nominal
  RegressionScores regression;          ///< filled when the label is numeric
  /// Accuracy or RMSE per fold, repetition after repetition; one for a hold-out, none for leave-one-out.
  std::vector<double> fold_scores;
  ProbabilityScores probabilities = {};    ///< mean over the repetitions; rows of all of them
  std::vector<RepeatScores> repeats = {};  ///< one per repetition
  OutOfFold predictions = {};
};

struct Evaluation {
  std::vector<EvaluationOfK> of_k;  ///< in the order of EvaluateOptions::ks
  /// Highest accuracy or lowest RMSE, as means over the repetitions; ties go to the smaller k, NaN is worst.
  std::size_t best = 0;
  bool label_is_nominal = false;  ///< classification (else regression)
  SearchReport report;            ///< sums over all folds
};

/// Evaluates k-NN on one table with a label: nominal = classification (stratified splits), numeric = regression (plain
/// splits). Normalisation is fitted on each fold's training rows; leave-one-out fits it once, on the whole table. One
/// search per fold serves every k. Throws invalid_argument without a label, for bad options and for a k larger than a
/// training part (Compat::rapidminer allows any k >= 1). Throws invalid_data for a missing label; under
/// Compat::rapidminer such a row trains as class 0 and is left out of the scores. Holds one copy of the table, or two
/// if it normalises; they are in a mapped file where the memory budget is short. Confidences take 8 bytes per row,
/// class and k; out_of_memory if that exceeds the memory budget.
Evaluation evaluate(const Table& table, const EvaluateOptions& options, const RunOptions& run = {});

/// Whether front ends ask for the confidences of an evaluation with n_ks neighbour numbers: `all`, or `none` where rows
/// x classes x n_ks exceed 2^27 (1 GiB), and for a label of numbers. The memory budget does not count, so that it
/// changes no result.
Confidences affordable_confidences(const Table& table, std::int64_t n_ks);

/// One measure with one normalisation.
struct EvaluationOfMeasure {
  Metric metric;
  NormalizeOptions normalize;
  Evaluation evaluation;
};

/// Several measures and normalisations, each with every k.
struct EvaluationGrid {
  std::vector<EvaluationOfMeasure> cells;  ///< measure after measure, each with every normalisation
  /// The cell of the best k: as in Evaluation::best; further ties go to the first cell. It alone keeps predictions.
  std::size_t best = 0;
};

/// Evaluates every measure with every normalisation, on the same splits; those of `options` are not used. A parameter
/// of options.knn.metric goes to every measure that has it. Throws what evaluate() throws, and invalid_argument for no
/// measure, no normalisation, and a parameter that none of the measures has.
EvaluationGrid evaluate_grid(const Table& table, const EvaluateOptions& options,
                             const std::vector<std::string>& metrics,
                             const std::vector<NormalizeOptions>& normalizations, const RunOptions& run = {});

/// The options of a tree, and the rows with which it is pruned.
struct TreeFitOptions {
  TreeOptions tree;
  double prune_holdout = 0.0;  ///< above 0: this share of the rows prunes (reduced error) instead of growing
  std::uint64_t seed = 0;      ///< for the stratified choice of those rows
};

/// Grows a tree; if prune_holdout is above 0, it grows on part of the rows and prunes with the others. Throws what
/// DecisionTree::fit, holdout_rows and DecisionTree::prune_reduced_error throw. No row of either part may lack a label,
/// unless its weight is 0.
DecisionTree fit_tree(const Table& table, const TreeFitOptions& options, const RunOptions& run = {});

struct TreeEvaluationOptions {
  TreeFitOptions fit;
  Scheme scheme = Scheme::cross_validation;
  std::int64_t n_folds = 10;
  double holdout = 0.3;
  std::uint64_t seed = 0;
  std::int64_t n_repeats = 1;  ///< this and the rest as in EvaluateOptions
  Confidences confidences = Confidences::none;
  Predictions predictions = Predictions::dropped;
};

/// Scores over all test rows of all folds, and all repetitions, together.
struct TreeEvaluation {
  ClassificationScores scores;
  std::vector<double> fold_scores;  ///< accuracy per fold, one for a hold-out, none for leave-one-out
  double mean_leaves = 0.0;         ///< mean over the trees of all folds
  ProbabilityScores probabilities = {};
  std::vector<RepeatScores> repeats = {};
  OutOfFold predictions = {};
};

/// Evaluates trees on one table: one is grown on each split's training rows, and splits are stratified. A row that gets
/// no class under MissingPolicy::drop counts as wrong. Leave-one-out grows as many trees as there are rows. Throws
/// invalid_argument without a nominal label and for bad options, invalid_data for a missing label, and what fit_tree
/// throws.
TreeEvaluation evaluate_tree(const Table& table, const TreeEvaluationOptions& options, const RunOptions& run = {});

struct LsqEvaluationOptions {
  LsqOptions lsq;
  Scheme scheme = Scheme::cross_validation;
  std::int64_t n_folds = 10;
  double holdout = 0.3;
  std::uint64_t seed = 0;
  std::int64_t n_repeats = 1;
  Predictions predictions = Predictions::dropped;
};

/// Scores over all test rows of all folds, and all repetitions, together.
struct LsqEvaluation {
  RegressionScores scores;
  std::vector<double> fold_scores;  ///< RMSE per fold, one for a hold-out, none for leave-one-out
  std::vector<RepeatScores> repeats = {};
  OutOfFold predictions = {};
};

/// Evaluates least squares on one table: one model is fitted to each split's training rows, and splits are plain.
/// Leave-one-out fits as many models as there are rows. Throws invalid_argument without a numeric label and for bad
/// options, and what LinearModel::fit throws.
LsqEvaluation evaluate_lsq(const Table& table, const LsqEvaluationOptions& options, const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
