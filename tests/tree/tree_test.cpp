// Compares trees with the slow oracle, and checks what must hold for every tree, whatever the table.
#include "stope/tree.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "discretize/discretize_cases.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/tree_format.hpp"
#include "tree/tree_cases.hpp"

namespace stope {
namespace {

using oracle::TreeCase;
using oracle::TreeOracle;
using oracle::TreeOracleNode;
using namespace testing_trees;

TreeOptions options_of(const TreeCase& c) {
  TreeOptions options;
  options.missing = MissingPolicy::value;
  if (c.max_depth >= 0) options.max_depth = c.max_depth;
  options.min_samples_leaf = c.least;
  options.min_score = c.min_score;
  return options;
}

Table without_weights(Table table) {
  table.columns.pop_back();
  return table;
}

void expect_same(const DecisionTree& tree, const std::vector<TreeOracleNode>& nodes, std::uint64_t seed) {
  ASSERT_EQ(tree.nodes().size(), nodes.size()) << "seed " << seed;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const TreeNode& here = tree.nodes()[i];
    const TreeOracleNode& wanted = nodes[i];
    ASSERT_EQ(here.parent, wanted.parent) << "seed " << seed << " node " << i;
    ASSERT_EQ(here.left, wanted.left) << "seed " << seed << " node " << i;
    ASSERT_EQ(here.right, wanted.right) << "seed " << seed << " node " << i;
    ASSERT_EQ(here.depth, wanted.depth);
    ASSERT_EQ(here.n_rows, wanted.n);
    ASSERT_EQ(here.attribute, wanted.attribute) << "seed " << seed << " node " << i;
    ASSERT_EQ(here.score, wanted.score) << "seed " << seed << " node " << i;
    for (std::size_t k = 0; k < wanted.counts.size(); ++k) {
      ASSERT_EQ(tree.counts(static_cast<std::int64_t>(i))[k], wanted.counts[k]);
    }
    if (here.leaf()) continue;
    const bool symbolic = tree.attributes()[static_cast<std::size_t>(here.attribute)].symbolic();
    ASSERT_EQ(symbolic ? static_cast<double>(here.value) : here.cut, wanted.cut) << "seed " << seed << " node " << i;
  }
}

TEST(Tree, IsTheOraclesOnRandomTables) {
  const int n = repeated(50000, 500);
  for (int seed = 0; seed < n; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const TreeCase c = random_case(random, seed % 10 == 0 ? 40 : 12, 4);
    const TreeOracle oracle(c);
    RunOptions run;
    run.threads = seed % 16 == 0 ? 2 : 1;  // threads cost more than small trees
    const Table table = unweighted(c) ? without_weights(table_of(c)) : table_of(c);
    const DecisionTree tree = DecisionTree::fit(table, options_of(c), run);
    expect_same(tree, oracle.nodes(), static_cast<std::uint64_t>(seed));
    if (HasFatalFailure()) return;
  }
}

std::vector<std::int64_t> shuffled(std::int64_t n, Random& random) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
  return rows;
}

// In larger tables, for every criterion, the order of rows, threads and the type of the numbers change nothing.
TEST(Tree, RowsThreadsAndTypesChangeNothing) {
  for (int seed = 0; seed < repeated(60, 10); ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 1000);
    const TreeCase c = random_case(random, 600, 20);
    const Table table = unweighted(c) ? without_weights(table_of(c)) : table_of(c);
    for (const Criterion criterion : {Criterion::discernibility, Criterion::gini, Criterion::entropy}) {
      TreeOptions options = options_of(c);
      options.criterion = criterion;
      RunOptions run;
      run.threads = 1;
      const std::string wanted = format_tree(DecisionTree::fit(table, options, run), TreeFormat::json);
      run.threads = 4;
      EXPECT_EQ(
          format_tree(DecisionTree::fit(table.take(shuffled(table.n_rows, random)), options, run), TreeFormat::json),
          wanted)
          << seed;
      if (unweighted(c) && criterion == Criterion::gini) {  // equal powers of two scale exactly
        EXPECT_EQ(format_tree(DecisionTree::fit(table_of(c), options, run), TreeFormat::json), wanted) << seed;
      }
    }
  }
}

// All threads sort the one or two columns of a tall table.
TEST(Tree, FewTallColumnsAreSortedTheSameByAnyThreads) {
  Random random(3);
  for (const int n_numeric : {1, 2}) {
    const Table table = discretize_cases::random_decisions(random, {70001, n_numeric, 1, 3, false, true});
    TreeOptions options;
    options.missing = MissingPolicy::value;
    options.max_depth = 3;
    RunOptions run;
    run.threads = 1;
    const std::string wanted = format_tree(DecisionTree::fit(table, options, run), TreeFormat::json);
    for (const int threads : {2, 3, 5}) {
      run.threads = threads;
      EXPECT_EQ(format_tree(DecisionTree::fit(table, options, run), TreeFormat::json), wanted) << threads;
    }
  }
}

// Every row ends in the leaf where it was counted. One rule fires, and it is that leaf's. The cuts tell apart whatever
// the tree does, so the coded table is as consistent as the tree.
TEST(Tree, RowsRulesAndCutsAgree) {
  for (int seed = 0; seed < repeated(400, 40); ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 5000);
    const TreeCase c = random_case(random, 60, 5);
    const Table table = without_weights(table_of(c));
    const DecisionTree tree = DecisionTree::fit(table, options_of(c));
    const std::vector<std::int64_t> leaves = tree.apply(table);
    std::vector<std::int64_t> reached(tree.nodes().size(), 0);
    for (const std::int64_t leaf : leaves) ++reached[static_cast<std::size_t>(leaf)];
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (tree.nodes()[i].leaf()) {
        EXPECT_EQ(reached[i], tree.nodes()[i].n_rows) << seed;
      }
    }
    const std::vector<Rule> rules = tree.rules();
    EXPECT_EQ(static_cast<std::int64_t>(rules.size()), tree.n_leaves());
    const CutSet cuts = tree.cuts();
    std::vector<std::string> codes;
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      const auto value = [&](std::int32_t a) { return table.columns[static_cast<std::size_t>(a)].at(row); };
      std::int64_t fired = -1;
      for (const Rule& rule : rules) {
        const bool fires =
            std::all_of(rule.conditions.begin(), rule.conditions.end(), [&](const RuleCondition& condition) {
              const double x = value(condition.attribute);
              if (tree.attributes()[static_cast<std::size_t>(condition.attribute)].symbolic()) {
                if (condition.equal) return x == *condition.equal;
                return std::none_of(condition.unequal.begin(), condition.unequal.end(),
                                    [&](std::int32_t v) { return x == v; });
              }
              if (condition.missing_only) return std::isnan(x);
              if (std::isnan(x)) return condition.or_missing;
              return (!condition.has_low || x >= condition.low) && (!condition.has_high || x < condition.high);
            });
        if (!fires) continue;
        EXPECT_EQ(fired, -1) << "two rules fire, seed " << seed << "\n" << format_tree(tree, TreeFormat::rules);
        fired = rule.leaf;
      }
      EXPECT_EQ(fired, leaves[static_cast<std::size_t>(row)]) << seed << "\n" << format_tree(tree, TreeFormat::rules);
      std::string code;
      for (const AttributeCuts& of_one : cuts) {
        const Column& column = table.columns[static_cast<std::size_t>(table.find(of_one.name))];
        std::int64_t s = 0;
        if (of_one.symbolic) {
          const std::string& name = column.values[static_cast<std::size_t>(column.codes()[row])];
          s = std::find(of_one.values.begin(), of_one.values.end(), name) - of_one.values.begin();
        } else {
          for (const double cut : of_one.numbers) s += column.at(row) >= cut ? 1 : 0;
        }
        code += std::to_string(s) + " ";
      }
      codes.push_back(code);
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (leaves[i] != leaves[j]) {
          EXPECT_NE(codes[i], codes[j]) << seed;
        }
      }
    }
  }
}

Table two_columns(const std::vector<double>& x, const std::vector<std::int32_t>& y) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(x.size());
  table.columns = {make_numeric("x", x), make_nominal("y", y, {"a", "b"})};
  table.columns[1].role = Role::label;
  return table;
}

// There are 10^10 pairs; 32 bits would give 1,410,065,408.
TEST(Tree, ScoresOfManyRowsDoNotOverflow) {
  std::vector<double> x;
  std::vector<std::int32_t> y;
  for (int i = 0; i < 200000; ++i) {
    x.push_back(i);
    y.push_back(i < 100000 ? 0 : 1);
  }
  const DecisionTree tree = DecisionTree::fit(two_columns(x, y));
  ASSERT_EQ(tree.nodes().size(), 3U);
  EXPECT_EQ(tree.nodes()[0].pairs, 10000000000);
  EXPECT_EQ(tree.nodes()[0].cut, 99999.5);
}

TEST(Tree, IdenticalRowsOfDifferentClassesShareAnImpureLeaf) {
  const DecisionTree tree = DecisionTree::fit(two_columns({1, 1, 1, 2}, {1, 0, 1, 0}));
  ASSERT_EQ(tree.nodes().size(), 3U);
  EXPECT_EQ(tree.nodes()[1].majority, 1);
  EXPECT_FALSE(tree.pure(1));
  const DecisionTree even = DecisionTree::fit(two_columns({1, 1}, {1, 0}));
  ASSERT_EQ(even.nodes().size(), 1U);
  EXPECT_EQ(even.nodes()[0].majority, 0);  // the lowest class
}

TEST(Tree, TablesOfOneRowOrNoFeatureAreLeaves) {
  Table table = two_columns({7}, {1});
  EXPECT_EQ(DecisionTree::fit(table).predict(table).codes, (std::vector<std::int32_t>{1}));
  table = two_columns({1, 2, 3}, {0, 1, 1});
  table.columns[0].role = Role::ignore;
  const DecisionTree tree = DecisionTree::fit(table);
  EXPECT_EQ(format_tree(tree, TreeFormat::text), "b (3 rows, 1 of other classes)\n");
  EXPECT_EQ(format_tree(tree, TreeFormat::rules), "1: if always then y = b (3 rows, 1 of other classes)\n");
  EXPECT_EQ(tree.cuts().size(), 0U);
}

TEST(Tree, ColumnsWithoutAnyValueDoNotMatter) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const MissingPolicy policy : {MissingPolicy::value, MissingPolicy::fill}) {
    Table table = two_columns({1, 2, 3, 4}, {0, 0, 1, 1});
    table.columns.insert(table.columns.begin(), make_numeric("none", {nan, nan, nan, nan}));
    table.columns.insert(table.columns.begin(), make_nominal("nowhere", {-1, -1, -1, -1}, {"a", "b"}));
    const DecisionTree tree = DecisionTree::fit(table, {.missing = policy});
    EXPECT_EQ(tree.nodes()[0].attribute, 2);
    EXPECT_EQ(tree.predict(table).codes, (std::vector<std::int32_t>{0, 0, 1, 1}));
  }
}

TEST(Tree, OneClassIsALeaf) {
  const DecisionTree tree = DecisionTree::fit(two_columns({1, 2, 3}, {1, 1, 1}));
  ASSERT_EQ(tree.nodes().size(), 1U);
  EXPECT_TRUE(tree.pure(0));
  EXPECT_EQ(tree.nodes()[0].majority, 1);
}

TEST(Tree, MissingValuesGoTheWayThePolicySays) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Table table = two_columns({nan, nan, 1, 2, 3, 4}, {1, 1, 0, 0, 1, 1});
  expect_error(ErrorCode::invalid_data, "column 'x', row 0: a missing value", [&] { DecisionTree::fit(table); });
  const DecisionTree value = DecisionTree::fit(table, {.missing = MissingPolicy::value});
  EXPECT_EQ(value.predict(table).codes, (std::vector<std::int32_t>{1, 1, 0, 0, 1, 1}));
  const DecisionTree drop = DecisionTree::fit(table, {.missing = MissingPolicy::drop});
  EXPECT_EQ(drop.nodes()[0].n_rows, 4);
  EXPECT_EQ(drop.predict(table).codes, (std::vector<std::int32_t>{-1, -1, 0, 0, 1, 1}));
  EXPECT_EQ(drop.predict(table).confidences[0], 0.0);
  const DecisionTree fill = DecisionTree::fit(table, {.missing = MissingPolicy::fill});
  EXPECT_EQ(fill.attributes()[0].fill, 2.5);
  EXPECT_EQ(fill.predict(table).codes[0], 1);
  const DecisionTree error = DecisionTree::fit(two_columns({1, 2, 3, 4}, {0, 0, 1, 1}));
  expect_error(ErrorCode::invalid_data, "row 0: 'x' is missing", [&] { error.predict(table); });
  const DecisionTree without =
      DecisionTree::fit(two_columns({1, 2, 3, 4}, {0, 0, 1, 1}), {.missing = MissingPolicy::value});
  EXPECT_EQ(without.predict(table).codes[0], 0);  // left
}

TEST(Tree, OfItsTablesIsTheSameTree) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Table table = two_columns({nan, nan, 1, 2, 3, 4}, {1, 1, 0, 0, 1, 1});
  const DecisionTree tree = DecisionTree::fit(table, {.missing = MissingPolicy::fill});
  auto tables = tree.to_tables();
  const DecisionTree again = DecisionTree::from_tables(tables, tree.options());
  EXPECT_EQ(again.attributes()[0].fill, 2.5);
  EXPECT_EQ(again.predict(table).codes, tree.predict(table).codes);
  EXPECT_EQ(format_tree(again, TreeFormat::json), format_tree(tree, TreeFormat::json));
  for (auto& [name, of_tree] : tables) {
    if (name == "nodes") of_tree = of_tree.take({0});
  }
  expect_error(ErrorCode::invalid_data, "node 0 lacks a child",
               [&] { DecisionTree::from_tables(tables, tree.options()); });
}

TEST(Tree, AValueOfAnotherTableThatTrainingLackedIsNoneOfThem) {
  Table train;
  train.n_rows = 4;
  train.columns = {make_nominal("c", {0, 0, 1, -1}, {"red", "blue"}), make_nominal("y", {0, 0, 1, 0}, {"a", "b"})};
  train.columns[1].role = Role::label;
  const DecisionTree tree = DecisionTree::fit(train, {.missing = MissingPolicy::value});
  ASSERT_EQ(tree.nodes()[0].value, 1);
  EXPECT_EQ(tree.attributes()[0].values.back(), "?");
  Table test;
  test.n_rows = 4;
  test.columns = {make_nominal("c", {0, 1, 2, -1}, {"green", "blue", "?"})};
  EXPECT_EQ(tree.predict(test).codes, (std::vector<std::int32_t>{0, 1, 0, 0}));
}

TEST(Tree, NoCutIsNegativeZero) {
  for (const double zero : {-0.0, 0.0}) {
    const DecisionTree tree =
        DecisionTree::fit(two_columns({-std::numeric_limits<double>::infinity(), zero, -zero}, {0, 1, 1}));
    EXPECT_EQ(tree.nodes()[0].cut, 0.0);
    EXPECT_FALSE(std::signbit(tree.nodes()[0].cut));
  }
}

TEST(Tree, RefusedClassWeights) {
  const Table table = two_columns({1, 2}, {0, 1});
  const auto message = [&](const std::vector<std::pair<std::string, double>>& weights) {
    try {
      DecisionTree::fit(table, {.class_weights = weights});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({{"d", 2.0}}), "class weights: no class is called 'd'; there are 'a', 'b'");
  EXPECT_EQ(message({{"a", 2.0}, {"a", 1.0}}), "class weights: 'a' has two weights");
}

TEST(Tree, ClassWeightsWeigh) {
  const Table table = two_columns({1, 2, 3, 4, 5, 6}, {0, 1, 0, 0, 0, 1});
  TreeOptions options;
  options.max_depth = 0;
  EXPECT_EQ(DecisionTree::fit(table, options).nodes()[0].majority, 0);
  options.class_weights = {{"b", 2.5}};
  const DecisionTree weighted = DecisionTree::fit(table, options);
  EXPECT_EQ(weighted.nodes()[0].majority, 1);
  EXPECT_EQ(weighted.counts(0)[1], 5.0);
  options.class_weights.clear();
  options.balanced = true;
  const DecisionTree balanced = DecisionTree::fit(table, options);
  EXPECT_EQ(balanced.counts(0)[0], 3.0);
  EXPECT_EQ(balanced.counts(0)[1], 3.0);
}

TEST(Tree, BadOptionsAreRefused) {
  const Table table = two_columns({1, 2}, {0, 1});
  const auto refused = [&](const TreeOptions& options) {
    try {
      DecisionTree::fit(table, options);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused({.max_depth = -1}));
  EXPECT_TRUE(refused({.min_samples_leaf = 0}));
  EXPECT_TRUE(refused({.min_score = -1.0}));
  EXPECT_TRUE(refused({.min_score = std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_TRUE(refused({.class_weights = {{"c", 1.0}}}));
  EXPECT_TRUE(refused({.class_weights = {{"a", 0.0}}}));
  EXPECT_TRUE(refused({.class_weights = {{"a", 1.0}}, .balanced = true}));
  EXPECT_TRUE(refused({.ccp_alpha = -0.5}));
}

TEST(Tree, EveryNodeOfATextHasALineOfItsOwn) {
  const DecisionTree tree = DecisionTree::fit(two_columns({1, 2, 3, 4, 5, 6}, {0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(format_tree(tree, TreeFormat::text),
            "x < 2.5: a (2 rows)\nx >= 2.5\n|   x < 4.5: b (2 rows)\n|   x >= 4.5: a (2 rows)\n");
}

}  // namespace
}  // namespace stope
