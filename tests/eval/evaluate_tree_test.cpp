// evaluate_tree() and fit_tree() equal fits and predictions made by hand, fold by fold.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/tree_format.hpp"

namespace stope {
namespace {

// The label follows x, except for a fifth of the rows.
Table noisy_table(std::int64_t n_rows) {
  Random random(3);
  std::vector<double> x, y;
  std::vector<std::int32_t> label;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    x.push_back(random.uniform());
    y.push_back(random.uniform());
    const int k = x.back() < 0.3 ? 0 : x.back() < 0.6 ? 1 : 2;
    label.push_back(random.below(5) == 0 ? static_cast<std::int32_t>(random.below(3)) : k);
  }
  Table table;
  table.n_rows = n_rows;
  table.columns = {make_numeric("x", x), make_numeric("y", y), make_nominal("label", label, {"a", "b", "c"})};
  table.columns[2].role = Role::label;
  return table;
}

std::vector<std::int64_t> others(const std::vector<std::int64_t>& rows, std::int64_t n_rows) {
  std::vector<std::int64_t> rest;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    if (!std::binary_search(rows.begin(), rows.end(), row)) rest.push_back(row);
  }
  return rest;
}

TEST(EvaluateTree, IsWhatFoldsByHandGive) {
  const Table table = noisy_table(90);
  const Column& label = table.columns[2];
  const std::vector<std::int32_t> truth(label.codes().begin(), label.codes().end());
  TreeEvaluationOptions options;
  options.n_folds = 5;
  options.seed = 4;
  options.fit.tree.min_samples_leaf = 3;
  const TreeEvaluation evaluation = evaluate_tree(table, options);
  std::vector<std::int32_t> predicted(truth.size());
  const auto folds = cross_validation_folds(90, 5, 4, truth);
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    const DecisionTree tree = DecisionTree::fit(table.take(others(folds[fold], 90)), options.fit.tree);
    const Classification classes = tree.predict(table.take(folds[fold]));
    double right = 0;
    for (std::size_t i = 0; i < folds[fold].size(); ++i) {
      const auto row = static_cast<std::size_t>(folds[fold][i]);
      predicted[row] = classes.codes[i];
      right += predicted[row] == truth[row] ? 1 : 0;
    }
    EXPECT_EQ(evaluation.fold_scores[fold], right / static_cast<double>(folds[fold].size()));
  }
  const ClassificationScores scores = score_classification(label.values, truth, predicted);
  EXPECT_EQ(evaluation.scores.confusion, scores.confusion);
  EXPECT_EQ(evaluation.scores.accuracy, scores.accuracy);
  EXPECT_GT(scores.accuracy, 0.5);
}

TEST(EvaluateTree, HoldoutAndLeaveOneOutTestTheirRows) {
  const Table table = noisy_table(40);
  TreeEvaluationOptions options;
  options.scheme = Scheme::holdout;
  options.holdout = 0.25;
  EXPECT_EQ(evaluate_tree(table, options).scores.n_rows, 10);
  EXPECT_EQ(evaluate_tree(table, options).fold_scores.size(), 1U);
  options.scheme = Scheme::leave_one_out;
  const TreeEvaluation evaluation = evaluate_tree(table, options);
  EXPECT_EQ(evaluation.scores.n_rows, 40);
  EXPECT_TRUE(evaluation.fold_scores.empty());
  EXPECT_GT(evaluation.mean_leaves, 2.0);
}

TEST(FitTree, PrunesWithTheRowsThatItHeldOut) {
  const Table table = noisy_table(300);
  const Column& label = table.columns[2];
  TreeFitOptions options;
  options.prune_holdout = 0.3;
  options.seed = 9;
  const auto rows = holdout_rows(300, 0.3, 9, {label.codes().begin(), label.codes().end()});
  DecisionTree tree = DecisionTree::fit(table.take(others(rows, 300)));
  const std::int64_t whole = tree.n_leaves();
  tree.prune_reduced_error(table.take(rows));
  const DecisionTree fitted = fit_tree(table, options);
  EXPECT_EQ(format_tree(fitted, TreeFormat::json), format_tree(tree, TreeFormat::json));
  EXPECT_LT(fitted.n_leaves(), whole / 2);  // most of them fit only noise
}

TEST(FitTree, RefusesAMissingLabelWhicheverPartItsRowIsIn) {
  Table table = noisy_table(40);
  std::get<Buffer<std::int32_t>>(table.columns[2].data)[7] = kMissingCode;
  const auto refused_row = [](const auto& work) -> std::int64_t {
    try {
      work();
    } catch (const Error& error) {
      return error.row();
    }
    return -1;
  };
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    TreeEvaluationOptions options;
    options.scheme = Scheme::holdout;
    options.seed = seed;
    EXPECT_EQ(refused_row([&] { evaluate_tree(table, options); }), 7) << seed;
    options.fit.prune_holdout = 0.5;
    options.fit.seed = seed;
    EXPECT_EQ(refused_row([&] { fit_tree(table, options.fit); }), 7) << seed;
    Table weighed = table;
    std::vector<double> weights(40, 1.0);
    weights[7] = 0.0;
    weighed.columns.push_back(make_numeric("w", weights));
    weighed.columns.back().role = Role::weight;
    EXPECT_EQ(refused_row([&] { evaluate_tree(weighed, options); }), -1) << seed;
  }
}

TEST(FitTree, WantsANominalLabel) {
  Table table = noisy_table(20);
  table.columns[2].role = Role::regular;
  expect_error(ErrorCode::invalid_argument, "a tree needs a label", [&] { fit_tree(table, {}); });
  expect_error(ErrorCode::invalid_argument, "a tree needs a label", [&] { evaluate_tree(table, {}); });
  table.columns[1].role = Role::label;
  expect_error(ErrorCode::invalid_argument, "a tree needs a nominal label; 'y' is numeric",
               [&] { evaluate_tree(table, {}); });
}

}  // namespace
}  // namespace stope
