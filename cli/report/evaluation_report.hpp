// The scores of an evaluation, one line a model: for people, as records and as JSON; and the predictions behind them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/json.hpp"
#include "report/record_writer.hpp"
#include "stope/eval.hpp"

namespace stope::cli {

/// One line: a tree, least squares, or one k of one measure with one normalisation.
struct EvaluationLine {
  std::string metric, normalize;  // empty where there is one of each
  std::int64_t k = 0;             // 0: no neighbours
  const std::vector<RepeatScores>* repeats = nullptr;
  bool best = false;
};

/// Whether lines have scores of classes or of numbers, and what more they show.
struct EvaluationShape {
  bool classes = false;
  bool repeated = false;  // several repetitions: mean and deviation
};

/// A table for people. Scores that no line has are left out. Under repetitions the first score has its deviation.
std::string evaluation_text(const std::vector<EvaluationLine>& lines, const EvaluationShape& shape);

/// Mean and deviation of every score of one line, one below the other.
std::string repeats_text(const std::vector<RepeatScores>& repeats, bool classes);

/// One record a line. The columns depend on the shape alone. Under repetitions scores are means, and "..._std" their
/// deviations.
void write_evaluation(RecordWriter& out, const std::vector<EvaluationLine>& lines, const EvaluationShape& shape);

/// {"accuracy": {"mean": ..., "std": ...}, ...}; std is null without repetitions.
Json repeats_json(const std::vector<RepeatScores>& repeats, bool classes);

/// "balanced accuracy 0.93, ROC AUC 0.99, log loss 0.12" with what is known of it; ends with a line end.
std::string probability_text(const std::vector<RepeatScores>& repeats, const ProbabilityScores& probabilities,
                             std::int64_t n_rows);

/// One record per row and repetition: row, repeat (where there are several), fold, truth, prediction, the confidences
/// if they were computed, and the row's id.
void write_predictions(RecordWriter& out, const Table& table, const OutOfFold& predictions, const RunOptions& run);

}  // namespace stope::cli
