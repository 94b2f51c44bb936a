// Least squares of one table, scored by cross-validation, hold-out or leave-one-out (stope/eval.hpp).
#include <string>
#include <utility>

#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "eval/resample.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope {
namespace {

const Column& numeric_label(const Table& table) {
  const Column& label = label_to_evaluate(table);
  if (label.nominal()) {
    throw Error(ErrorCode::invalid_argument, "least squares need a numeric label; '" + label.name + "' is nominal",
                {.file = table.source, .option = "numeric", .feature = label.name});
  }
  require_labels(table, label);
  return label;
}

}  // namespace

LsqEvaluation evaluate_lsq(const Table& table, const LsqEvaluationOptions& options, const RunOptions& run) try {
  table.validate();
  const Column& label = numeric_label(table);
  const Resampling resampling = Resampling::of(options);
  resampling.check();
  require_memory("predictions and scores of " + std::to_string(table.n_rows) + " rows need",
                 bytes_of_scores(label, resampling, Confidences::none, options.predictions), run);
  ScoreKeeper keeper(label, options.scheme, Confidences::none, options.predictions);
  std::size_t fold = 0;
  for (std::int64_t repeat = 0; repeat < options.n_repeats; ++repeat) {
    const auto folds = resampling.folds(repeat, table.n_rows, {});
    RepeatPredictions predictions(label, Confidences::none, folds);
    for (const std::vector<std::int64_t>& rows : folds) {
      run.cancel.check();
      const RunOptions inner = fold_run(run, fold++, folds.size() * static_cast<std::size_t>(options.n_repeats));
      const std::vector<std::int64_t> training = complement(rows, table.n_rows);
      const LinearModel model = on_rows(
          table, training, [&] { return LinearModel::fit(take_split(table, training, run), options.lsq, inner); });
      const std::vector<double> numbers =
          on_rows(table, rows, [&] { return model.predict(take_split(table, rows, run), inner); });
      for (std::size_t i = 0; i < rows.size(); ++i) predictions.numbers[static_cast<std::size_t>(rows[i])] = numbers[i];
    }
    keeper.add(folds, predictions, run);
  }
  ModelScores scores = keeper.finish();
  return {scores.regression, std::move(scores.fold_scores), std::move(scores.repeats), std::move(scores.predictions)};
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
