// Trees of one table, pruned with part of it, and scored by cross-validation, hold-out or leave-one-out
// (stope/eval.hpp).
#include <algorithm>
#include <string>
#include <utility>

#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "eval/resample.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope {
namespace {

const Column& nominal_label(const Table& table) {
  const std::int64_t at = table.find(Role::label);
  if (at >= 0 && table.columns[static_cast<std::size_t>(at)].nominal())
    return table.columns[static_cast<std::size_t>(at)];
  throw Error(
      ErrorCode::invalid_argument,
      at < 0 ? "a tree needs a label, but the table has none"
             : "a tree needs a nominal label; '" + table.columns[static_cast<std::size_t>(at)].name + "' is numeric",
      {.file = table.source, .option = at < 0 ? "target" : "nominal"});
}

// Without this it would depend on the seed whether a missing label is refused: rows that prune or test need none. A
// tree takes no notice of rows of weight 0.
void require_labels_anywhere(const Table& table, const Column& label) {
  const std::int64_t at = table.find(Role::weight);
  require_labels(table, label, at < 0 ? nullptr : &table.columns[static_cast<std::size_t>(at)]);
}

std::vector<std::int32_t> codes_of(const Column& label) {
  return {label.codes().begin(), label.codes().end()};
}

// Prediction i of a fold belongs to table row rows[i].
void put(const Classification& classes, const std::vector<std::int64_t>& rows, RepeatPredictions& predictions) {
  const std::size_t width = classes.confidences.empty() ? 0 : classes.classes.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    predictions.codes[static_cast<std::size_t>(rows[i])] = classes.codes[i];
    if (width == 0) continue;
    std::copy_n(classes.confidences.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                predictions.confidences_of(rows[i]).begin());
  }
}

}  // namespace

DecisionTree fit_tree(const Table& table, const TreeFitOptions& options, const RunOptions& run) try {
  const Column& label = nominal_label(table);
  if (options.prune_holdout == 0.0) return DecisionTree::fit(table, options.tree, run);
  if (!(options.prune_holdout > 0.0 && options.prune_holdout < 1.0)) {
    throw Error(ErrorCode::invalid_argument, "prune_holdout is not between 0 and 1", {.option = "prune_holdout"});
  }
  table.validate();
  require_labels_anywhere(table, label);
  const std::vector<std::int64_t> pruning =
      holdout_rows(table.n_rows, options.prune_holdout, options.seed, codes_of(label));
  const std::vector<std::int64_t> growing = complement(pruning, table.n_rows);
  DecisionTree tree =
      on_rows(table, growing, [&] { return DecisionTree::fit(take_split(table, growing, run), options.tree, run); });
  on_rows(table, pruning, [&] { tree.prune_reduced_error(take_split(table, pruning, run), run); });
  return tree;
} catch (...) {
  rethrow_as_error();
}

TreeEvaluation evaluate_tree(const Table& table, const TreeEvaluationOptions& options, const RunOptions& run) try {
  table.validate();
  const Column& label = nominal_label(table);
  require_labels_anywhere(table, label);
  const std::vector<std::int32_t> codes = codes_of(label);
  const Resampling resampling = Resampling::of(options);
  resampling.check();
  require_memory("predictions and scores of " + std::to_string(table.n_rows) + " rows need",
                 bytes_of_scores(label, resampling, options.confidences, options.predictions), run);
  ScoreKeeper keeper(label, options.scheme, options.confidences, options.predictions);
  std::int64_t leaves = 0, trees = 0;
  for (std::int64_t repeat = 0; repeat < options.n_repeats; ++repeat) {
    const auto folds = resampling.folds(repeat, table.n_rows, codes);
    RepeatPredictions predictions(label, options.confidences, folds);
    for (const std::vector<std::int64_t>& rows : folds) {
      run.cancel.check();
      const RunOptions inner =
          fold_run(run, static_cast<std::size_t>(trees), folds.size() * static_cast<std::size_t>(options.n_repeats));
      const std::vector<std::int64_t> training = complement(rows, table.n_rows);
      const DecisionTree tree =
          on_rows(table, training, [&] { return fit_tree(take_split(table, training, run), options.fit, inner); });
      const std::vector<std::int64_t> of_rows =
          on_rows(table, rows, [&] { return tree.apply(take_split(table, rows, run), inner); });
      put(tree.classes_of(of_rows, options.confidences), rows, predictions);
      leaves += tree.n_leaves();
      ++trees;
    }
    keeper.add(folds, predictions, run);
  }
  ModelScores scores = keeper.finish();
  return {std::move(scores.classification),
          std::move(scores.fold_scores),
          static_cast<double>(leaves) / static_cast<double>(trees),
          scores.probabilities,
          std::move(scores.repeats),
          std::move(scores.predictions)};
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
