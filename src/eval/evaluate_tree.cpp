// Trees of one table, pruned with part of it, and scored by cross-validation, hold-out or leave-one-out
// (stope/eval.hpp).
#include <cmath>

#include "base/guarded.hpp"
#include "eval/folds.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "table/column_memory.hpp"

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

std::vector<std::int32_t> codes_of(const Column& label) {
  return {label.codes().begin(), label.codes().end()};
}

// Test rows of every fold.
std::vector<std::vector<std::int64_t>> test_rows(const Table& table, const std::vector<std::int32_t>& codes,
                                                 const TreeEvaluationOptions& options) {
  switch (options.scheme) {
    case Scheme::holdout: return {holdout_rows(table.n_rows, options.holdout, options.seed, codes)};
    case Scheme::cross_validation: return cross_validation_folds(table.n_rows, options.n_folds, options.seed, codes);
    case Scheme::leave_one_out: break;
  }
  return cross_validation_folds(table.n_rows, table.n_rows, options.seed);
}

// Splits beyond the memory budget go to a file.
Table take(const Table& table, const std::vector<std::int64_t>& rows, const RunOptions& run) {
  return table.take(rows, storage_within(table.bytes(), memory_budget(run)));
}

}  // namespace

DecisionTree fit_tree(const Table& table, const TreeFitOptions& options, const RunOptions& run) try {
  const Column& label = nominal_label(table);
  if (options.prune_holdout == 0.0) return DecisionTree::fit(table, options.tree, run);
  if (!(options.prune_holdout > 0.0 && options.prune_holdout < 1.0)) {
    throw Error(ErrorCode::invalid_argument, "prune_holdout is not between 0 and 1", {.option = "prune_holdout"});
  }
  table.validate();
  const std::vector<std::int64_t> pruning =
      holdout_rows(table.n_rows, options.prune_holdout, options.seed, codes_of(label));
  DecisionTree tree = DecisionTree::fit(take(table, complement(pruning, table.n_rows), run), options.tree, run);
  tree.prune_reduced_error(take(table, pruning, run), run);
  return tree;
} catch (...) {
  rethrow_as_error();
}

TreeEvaluation evaluate_tree(const Table& table, const TreeEvaluationOptions& options, const RunOptions& run) try {
  table.validate();
  const Column& label = nominal_label(table);
  const std::vector<std::int32_t> truth = codes_of(label);
  const std::vector<std::vector<std::int64_t>> folds = test_rows(table, truth, options);
  std::vector<std::int32_t> predicted(truth.size(), kMissingCode), tested(truth.size(), kMissingCode);
  TreeEvaluation evaluation;
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    run.cancel.check();
    const RunOptions inner = fold_run(run, fold, folds.size());
    const std::vector<std::int64_t>& rows = folds[fold];
    const DecisionTree tree = fit_tree(take(table, complement(rows, table.n_rows), run), options.fit, inner);
    const Classification classes = tree.classes_of(tree.apply(take(table, rows, run), inner), Confidences::none);
    evaluation.mean_leaves += static_cast<double>(tree.n_leaves()) / static_cast<double>(folds.size());
    std::int64_t right = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<std::size_t>(rows[i]);
      predicted[row] = classes.codes[i];
      tested[row] = truth[row];
      right += predicted[row] == truth[row] ? 1 : 0;
    }
    if (options.scheme == Scheme::leave_one_out) continue;
    evaluation.fold_scores.push_back(static_cast<double>(right) / static_cast<double>(rows.size()));
  }
  evaluation.scores = score_classification(label.values, tested, predicted);
  return evaluation;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
