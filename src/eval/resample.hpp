// What the evaluations of all kinds of models share: the splits of every repetition, and the scores of what was
// predicted on them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/folds.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope {

/// How a table is split, from the options of any kind of model.
struct Resampling {
  Scheme scheme;
  std::int64_t n_folds;
  double holdout;
  std::uint64_t seed;
  std::int64_t n_repeats;

  template <class Options>
  static Resampling of(const Options& options) {
    return {options.scheme, options.n_folds, options.holdout, options.seed, options.n_repeats};
  }
  /// Throws invalid_argument for fewer than one repetition, and for several of leave-one-out, which are all the same.
  void check() const;
  /// At most so many rows are tested in a repetition.
  std::int64_t most_tested(std::int64_t n_rows) const;
  /// Test rows of every fold of one repetition. `codes` stratify them; empty for a label of numbers. Leave-one-out is a
  /// fold a row.
  std::vector<std::vector<std::int64_t>> folds(std::int64_t repeat, std::int64_t n_rows,
                                               const std::vector<std::int32_t>& codes) const;
};

/// What one model, say one k, predicted in one repetition. Code and number i belong to table row i; rows that were not
/// tested keep what they were made with.
struct RepeatPredictions {
  std::vector<std::int32_t> codes;
  std::vector<double> confidences;  // tested rows x classes, if they are wanted
  std::vector<double> numbers;
  std::vector<std::int64_t> tested;  // ascending

  RepeatPredictions(const Column& label, Confidences with, const std::vector<std::vector<std::int64_t>>& folds);
  /// The confidences of a tested row.
  std::span<double> confidences_of(std::int64_t row);
  std::span<const double> confidences_of(std::int64_t row) const;

 private:
  std::size_t width_ = 0;  // classes
  bool all_tested_ = false;
  std::size_t first_of(std::int64_t row) const;
};

/// All scores of one model.
struct ModelScores {
  ClassificationScores classification;
  RegressionScores regression;
  ProbabilityScores probabilities;
  std::vector<double> fold_scores;
  std::vector<RepeatScores> repeats;
  OutOfFold predictions;
};

/// Scores one model's predictions, repetition by repetition.
class ScoreKeeper {
 public:
  /// `label` outlives it.
  ScoreKeeper(const Column& label, Scheme scheme, Confidences confidences, Predictions keep)
      : label_(label), scheme_(scheme), confidences_(confidences), keep_(keep) {}

  void add(const std::vector<std::vector<std::int64_t>>& folds, const RepeatPredictions& predictions,
           const RunOptions& run);
  /// All repetitions together.
  ModelScores finish();

 private:
  void add_classes(const RepeatPredictions& predictions, const RunOptions& run);
  void add_numbers(const RepeatPredictions& predictions);
  void score_folds(const std::vector<std::vector<std::int64_t>>& folds, const RepeatPredictions& predictions);
  void keep(const std::vector<std::vector<std::int64_t>>& folds, const RepeatPredictions& predictions);

  const Column& label_;
  Scheme scheme_;
  Confidences confidences_;
  Predictions keep_;
  ModelScores scores_;
  std::vector<std::int32_t> true_codes_, predicted_codes_;  // of all repetitions
  std::vector<double> true_numbers_, predicted_numbers_;
};

/// The mean over repetitions of what the best model is chosen by: smaller is better, and NaN is infinite.
double loss_of(const std::vector<RepeatScores>& repeats, bool label_is_nominal);

/// Bytes of the predictions and scores of one model, for the memory budget.
std::int64_t bytes_of_scores(const Column& label, const Resampling& resampling, Confidences confidences,
                             Predictions keep);

/// These rows of the table; beyond the memory budget they go to a file.
Table take_split(const Table& table, const std::vector<std::int64_t>& rows, const RunOptions& run);

/// The label, which an evaluation needs. Throws invalid_argument where there is none.
const Column& label_to_evaluate(const Table& table);
/// Throws invalid_data naming the first row whose label is missing. Where there is a `weight`, rows of weight 0 need
/// none.
void require_labels(const Table& table, const Column& label, const Column* weight = nullptr);

/// An error about a table of these rows of `table`, as one about `table` itself: with that row, and that file.
Error of_whole_table(const Error& error, const Table& table, const std::vector<std::int64_t>& rows);

/// What `work` on a table of these rows gives. Its errors name rows of `table`.
template <class Work>
auto on_rows(const Table& table, const std::vector<std::int64_t>& rows, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw of_whole_table(error, table, rows);
  }
}

}  // namespace stope
