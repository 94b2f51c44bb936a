// Trees on GPUs: one test body for real GPUs and for the fake ones. All is compared with the CPU's results.
#pragma once

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "discretize/discretize_cases.hpp"
#include "stope/tree.hpp"

namespace stope::testing_trees {

using discretize_cases::random_decisions;
using discretize_cases::Shape;

inline DecisionTree tree_on(const Table& table, const std::string& device, const TreeOptions& options) {
  RunOptions run;
  run.device = device;
  run.threads = table.n_rows * std::ssize(table.columns) < 100000 ? 1 : 0;  // threads cost more than small trees
  return DecisionTree::fit(table, options, run);
}

/// Expects the CPU's nodes, bit for bit.
inline void expect_the_processors_tree(const Table& table, const std::string& device, TreeOptions options = {}) {
  options.missing = MissingPolicy::value;
  const DecisionTree want = tree_on(table, "cpu", options), got = tree_on(table, device, options);
  ASSERT_EQ(got.nodes().size(), want.nodes().size());
  for (std::size_t i = 0; i < want.nodes().size(); ++i) {
    SCOPED_TRACE("node " + std::to_string(i));
    const TreeNode &w = want.nodes()[i], &g = got.nodes()[i];
    ASSERT_EQ(g.parent, w.parent);
    ASSERT_EQ(g.left, w.left);
    ASSERT_EQ(g.right, w.right);
    ASSERT_EQ(g.depth, w.depth);
    ASSERT_EQ(g.n_rows, w.n_rows);
    ASSERT_EQ(g.attribute, w.attribute);
    ASSERT_EQ(g.value, w.value);
    ASSERT_EQ(g.cut, w.cut);
    ASSERT_EQ(g.score, w.score);
    ASSERT_EQ(g.pairs, w.pairs);
    ASSERT_EQ(g.majority, w.majority);
    for (std::size_t k = 0; k < want.classes().size(); ++k) {
      ASSERT_EQ(got.counts(static_cast<std::int64_t>(i))[k], want.counts(static_cast<std::int64_t>(i))[k]) << k;
    }
  }
}

/// Draws tables of up to most_rows rows. Numbers of rows around powers of two are more frequent. `gains`: trees grow by
/// Gini or entropy, of up to 256 classes.
inline void expect_the_processors_trees_of_random_tables(const std::string& device, int n_tables,
                                                         std::int64_t most_rows, int n_numeric, std::uint64_t seed,
                                                         bool gains = false) {
  Random random(seed);
  for (int i = 0; i < n_tables; ++i) {
    Shape shape;
    shape.n_rows = 1 + static_cast<std::int64_t>(random.below(1 + random.below(static_cast<std::uint64_t>(most_rows))));
    if (random.below(3) == 0) {
      const std::int64_t near = (std::int64_t{1} << random.below(20)) + static_cast<std::int64_t>(random.below(3)) - 1;
      if (near >= 1 && near <= most_rows) shape.n_rows = near;
    }
    shape.n_numeric = static_cast<int>(random.below(static_cast<std::uint64_t>(n_numeric)));
    shape.n_symbolic = static_cast<int>(random.below(4)) + (shape.n_numeric == 0 ? 1 : 0);
    shape.floats = random.below(2) == 0;
    shape.n_classes = random.below(2) == 0 ? 2 : 2 + static_cast<std::int32_t>(random.below(gains ? 255 : 49));
    const Table table = random_decisions(random, shape);
    TreeOptions options;
    if (random.below(4) == 0) options.max_depth = static_cast<std::int64_t>(random.below(5));
    if (random.below(4) == 0) options.min_samples_leaf = 1 + static_cast<std::int64_t>(random.below(6));
    if (random.below(6) == 0) options.min_score = static_cast<double>(random.below(20)) / (gains ? 40.0 : 2.0);
    if (gains) options.criterion = random.below(2) == 0 ? Criterion::gini : Criterion::entropy;
    SCOPED_TRACE("table " + std::to_string(i) + ": " + std::to_string(shape.n_rows) + " rows, " +
                 std::to_string(shape.n_classes) + " classes, seed " + std::to_string(seed));
    expect_the_processors_tree(table, device, options);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace stope::testing_trees
