// Compares pruned trees with all subtrees of small trees, and checks what pruning with rows of its own does.
#include <gtest/gtest.h>

#include <numeric>

#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/tree.hpp"
#include "tree/tree_cases.hpp"

namespace stope {
namespace {

using namespace testing_trees;

double errors_of(const DecisionTree& tree) {
  double errors = 0.0;
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    if (!tree.nodes()[i].leaf()) continue;
    const double* const counts = tree.counts(static_cast<std::int64_t>(i));
    errors += std::accumulate(counts, counts + tree.classes().size(), 0.0) - counts[tree.nodes()[i].majority];
  }
  return errors;
}

// Returns the least cost and, at that cost, the fewest leaves of all subtrees that keep node i. It tries all of them.
struct Cost {
  double errors = 0.0;
  std::int64_t leaves = 1;
};

std::vector<Cost> subtrees(const DecisionTree& tree, std::int64_t i) {
  const TreeNode& node = tree.nodes()[static_cast<std::size_t>(i)];
  const double* const counts = tree.counts(i);
  std::vector<Cost> all = {{std::accumulate(counts, counts + tree.classes().size(), 0.0) - counts[node.majority], 1}};
  if (node.leaf()) return all;
  for (const Cost& left : subtrees(tree, node.left)) {
    for (const Cost& right : subtrees(tree, node.right)) {
      all.push_back({left.errors + right.errors, left.leaves + right.leaves});
    }
  }
  return all;
}

TEST(Prune, CostComplexityFindsTheBestOfAllSubtrees) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    oracle::TreeCase c = random_case(random, 24, 3);
    Table table = table_of(c);
    table.columns.pop_back();
    TreeOptions options;
    options.missing = MissingPolicy::value;
    options.max_depth = 4;
    const DecisionTree whole = DecisionTree::fit(table, options);
    const std::vector<Cost> all = subtrees(whole, 0);
    for (const double alpha : {0.0, 0.03125, 0.0625, 0.125, 0.5}) {
      Cost best = all[0];
      const auto n = static_cast<double>(table.n_rows);
      const auto cost = [&](const Cost& of) { return of.errors + alpha * n * static_cast<double>(of.leaves); };
      for (const Cost& other : all) {
        if (cost(other) < cost(best) || (cost(other) == cost(best) && other.leaves < best.leaves)) best = other;
      }
      DecisionTree pruned = whole;
      pruned.prune_cost_complexity(alpha);
      EXPECT_EQ(pruned.n_leaves(), best.leaves) << "seed " << seed << " alpha " << alpha;
      EXPECT_EQ(errors_of(pruned), best.errors) << "seed " << seed << " alpha " << alpha;
      compared += pruned.n_leaves() < whole.n_leaves() ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 300);
}

TEST(Prune, WhatIsLeftIsATree) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    Table table = table_of(random_case(random, 200, 5));
    TreeOptions options;
    options.missing = MissingPolicy::value;
    DecisionTree tree = DecisionTree::fit(table, options);
    tree.prune_cost_complexity(0.01);
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const TreeNode& node = tree.nodes()[i];
      if (node.leaf()) {
        rows += node.n_rows;
        EXPECT_EQ(node.left, -1);
        continue;
      }
      EXPECT_EQ(node.left, static_cast<std::int64_t>(i) + 1);
      for (const std::int64_t child : {node.left, node.right}) {
        EXPECT_EQ(tree.nodes()[static_cast<std::size_t>(child)].parent, static_cast<std::int64_t>(i));
        EXPECT_EQ(tree.nodes()[static_cast<std::size_t>(child)].depth, node.depth + 1);
      }
    }
    EXPECT_EQ(rows, tree.nodes()[0].n_rows);
    EXPECT_EQ(DecisionTree::from_tables(tree.to_tables(), tree.options()).to_tables().size(), 5U);
  }
}

TEST(Prune, RowsThatTheTreeHasNotSeenDecide) {
  Table table;
  table.n_rows = 6;
  table.columns = {make_numeric("x", {1, 2, 3, 4, 5, 6}), make_nominal("y", {0, 1, 0, 1, 1, 1}, {"a", "b"})};
  table.columns[1].role = Role::label;
  const DecisionTree whole = DecisionTree::fit(table);
  EXPECT_GT(whole.n_leaves(), 2);
  // These rows agree with the tree: nothing is pruned.
  DecisionTree same = whole;
  same.prune_reduced_error(table);
  EXPECT_EQ(same.nodes().size(), whole.nodes().size());
  // These rows say that all is a below 3.5, and say nothing about the values above.
  Table other;
  other.n_rows = 3;
  other.columns = {make_numeric("x", {1, 2, 3}), make_nominal("y", {0, 0, 0}, {"a", "b"})};
  other.columns[1].role = Role::label;
  DecisionTree pruned = whole;
  pruned.prune_reduced_error(other);
  EXPECT_EQ(pruned.n_leaves(), 2);
  EXPECT_EQ(pruned.predict(other).codes, (std::vector<std::int32_t>{0, 0, 0}));
  other.columns[1].role = Role::regular;
  expect_error(ErrorCode::invalid_argument, "pruning needs rows with a nominal label",
               [&] { pruned.prune_reduced_error(other); });
}

}  // namespace
}  // namespace stope
