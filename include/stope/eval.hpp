// Evaluation: splits, scores, and cross-validation / hold-out / leave-one-out of k-NN models for one or many k.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stope/knn.hpp"
#include "stope/normalize.hpp"

namespace stope {

/// Scores of predicted classes against known ones. A row counts if its true label is present; a missing prediction of
/// a counted row is an error (column n_classes of the confusion matrix).
struct ClassificationScores {
  std::vector<std::string> classes;
  std::int64_t n_rows = 0;                ///< rows counted
  std::vector<std::int64_t> confusion;    ///< classes x (classes + 1): true class by predicted class, last = missing
  double accuracy = 0;
  double kappa = 0;                       ///< Cohen's; NaN where expected agreement is 1, as scikit-learn
  std::vector<double> precision, recall, f1;  ///< per class; 0 where undefined (scikit-learn's zero_division=0)
  std::vector<std::int64_t> support;
  double macro_f1 = 0;
};

/// `truth` and `predicted` index `classes`; kMissingCode = missing.
ClassificationScores score_classification(const std::vector<std::string>& classes,
                                          const std::vector<std::int32_t>& truth,
                                          const std::vector<std::int32_t>& predicted);

/// Scores of predicted numbers. Rows with a NaN truth are left out; a NaN prediction makes the scores NaN.
struct RegressionScores {
  std::int64_t n_rows = 0;
  double rmse = 0, mae = 0, r2 = 0;  ///< r2: 1 - SS_res/SS_tot; constant truth: 1 if perfect else 0, as scikit-learn
};
RegressionScores score_regression(const std::vector<double>& truth, const std::vector<double>& predicted);

/// Test rows of every fold, ascending. `labels` (codes) makes the folds stratified, empty = plain shuffled folds.
/// Deterministic in the seed on every machine. Throws invalid_argument unless 2 <= n_folds <= n_rows.
std::vector<std::vector<std::int64_t>> cross_validation_folds(std::int64_t n_rows, std::int64_t n_folds,
                                                              std::uint64_t seed,
                                                              const std::vector<std::int32_t>& labels = {});

/// Test rows of a hold-out split, ascending: round(fraction * n) of them, at least 1 and at most n - 1, stratified
/// by largest remainders where `labels` is given.
std::vector<std::int64_t> holdout_rows(std::int64_t n_rows, double fraction, std::uint64_t seed,
                                       const std::vector<std::int32_t>& labels = {});

enum class Scheme { cross_validation, holdout, leave_one_out };

struct EvaluateOptions {
  KnnOptions knn;
  VoteWeights weights = VoteWeights::uniform;
  NormalizeOptions normalize;
  Scheme scheme = Scheme::cross_validation;
  std::int64_t n_folds = 10;
  double holdout = 0.3;
  std::uint64_t seed = 0;
  std::vector<std::int64_t> ks = {5};
  std::string exclude_group;  ///< leave-one-out only: rows of the same group are no neighbours
};

/// Scores for one k over all test rows of all folds together.
struct EvaluationOfK {
  std::int64_t k = 0;
  ClassificationScores classification;  ///< filled when the label is nominal
  RegressionScores regression;          ///< filled when the label is numeric
  std::vector<double> fold_scores;      ///< accuracy or RMSE per fold (empty for leave-one-out)
};

struct Evaluation {
  std::vector<EvaluationOfK> of_k;  ///< in the order of EvaluateOptions::ks
  std::size_t best = 0;             ///< highest accuracy / lowest RMSE; ties go to the smaller k
  SearchReport report;              ///< of all folds together
};

/// Evaluates k-NN on one table with a label. Normalisation is fitted on each fold's training rows; leave-one-out fits it
/// once, on the whole table. One search a fold serves every k. A k larger than a fold's training part is an error.
Evaluation evaluate(const Table& table, const EvaluateOptions& options, const RunOptions& run = {});

}  // namespace stope
