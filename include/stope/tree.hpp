// Local-discretisation trees: decision trees over numeric and symbolic attributes whose splits separate the most pairs
// of rows of different classes (docs/numerics/tree.md). Rules, cuts and predictions come from the same fit.
//
//   const DecisionTree tree = DecisionTree::fit(table, {.missing = MissingPolicy::value});
//   const Classification classes = tree.predict(other);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stope/backend_report.hpp"
#include "stope/cuts.hpp"
#include "stope/discretize.hpp"
#include "stope/knn.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// Names are scikit-learn's where it has one.
struct TreeOptions {
  Criterion criterion = Criterion::discernibility;
  MissingPolicy missing = MissingPolicy::error;  ///< both when the tree is grown and when it predicts
  std::optional<std::int64_t> max_depth = {};    ///< the root has depth 0; empty = any
  std::int64_t min_samples_leaf = 1;             ///< a child has at least this many rows
  double min_score = 0.0;                        ///< a split must be worth more than 0, and at least this
  std::vector<std::pair<std::string, double>> class_weights = {};  ///< by name of the class; other classes weigh 1
  bool balanced = false;   ///< classes weigh n / (classes * rows of the class); class_weights must be empty
  double ccp_alpha = 0.0;  ///< cost-complexity pruning: what a leaf costs, as a share of misclassified weight; 0 = none
};

/// A node of a tree. An inner node sends a row right if its attribute is >= `cut` (numeric) or equals `value`
/// (symbolic), else left.
struct TreeNode {
  std::int64_t parent = -1, left = -1, right = -1;  ///< nodes; -1 = none
  std::int64_t depth = 0;
  std::int64_t n_rows = 0;      ///< training rows
  std::int32_t attribute = -1;  ///< index into attributes(); -1 for a leaf
  std::int32_t value = 0;       ///< symbolic attribute: code of the value
  double cut = 0.0;             ///< numeric attribute; -infinity: missing | present
  double score = 0.0;           ///< worth of the split; discernibility with weights: squared weight
  std::int64_t pairs = 0;       ///< discernibility without weights: the score, exactly
  std::int32_t majority = 0;    ///< the class of most weight (the lowest of equal ones): a leaf predicts it

  bool leaf() const { return attribute < 0; }
};

/// What a tree remembers of an attribute.
struct TreeAttribute {
  std::string name;
  ValueType type = ValueType::real;
  Values values;                    ///< symbolic; "?" is the last if missing was a value
  bool has_missing = false;         ///< whether a training row lacks it
  std::optional<double> fill = {};  ///< MissingPolicy::fill: the number or code that stands in

  bool symbolic() const { return is_nominal(type); }
};

/// One condition of a rule. Numeric: low <= x < high, and whether a missing value meets it. Symbolic: x is `equal`, or
/// is none of `unequal`.
struct RuleCondition {
  std::int32_t attribute = 0;
  bool has_low = false, has_high = false;
  double low = 0.0, high = 0.0;
  bool missing_only = false;  ///< numeric: only a missing value meets it
  bool or_missing = false;    ///< numeric: a missing value meets it, too
  std::optional<std::int32_t> equal = {};
  std::vector<std::int32_t> unequal = {};
};

/// The way to a leaf, one condition per attribute. For every row exactly one rule of a tree fires.
struct Rule {
  std::int64_t leaf = 0;
  std::vector<RuleCondition> conditions;
};

/// How a tree was grown. Seconds are those of the growth alone.
struct TreeReport : BackendReport {
  std::vector<std::pair<std::string, double>> gpu_seconds = {};  ///< the GPU's work, by step: sort, grow; no copies
};

/// The report as one JSON object, as --json prints it, and as lines for people, as --explain does.
std::string to_json(const TreeReport& report);
std::string to_text(const TreeReport& report);

/// A fitted tree. Everything but pruning is const and safe from several threads at once.
class DecisionTree {
 public:
  /// Grows a tree for the label column of `table`, which is nominal and never missing. A column of role weight weights
  /// the rows. Splits until leaves are pure or no split is worth anything. Ties: the lowest attribute wins, then the
  /// lowest cut or code. The order of rows never matters. Throws what best_cuts throws (stope/discretize.hpp),
  /// invalid_argument for bad options, and out_of_memory naming the bytes. Cost: a sort of every attribute, then a pass
  /// over all attributes for every level.
  static DecisionTree fit(const Table& table, const TreeOptions& options = {}, const RunOptions& run = {});

  /// Predicts the class of every row. Confidences are the classes' shares of the leaf's training weight. Only the
  /// attributes that the tree tests are read. They are matched by name, and an unknown symbolic value equals none.
  /// Throws invalid_data for an attribute that is absent or has another type, and for a missing value under
  /// MissingPolicy::error. Under MissingPolicy::drop a row with a missing value has a missing class and confidences of
  /// 0.
  Classification predict(const Table& table, const RunOptions& run = {}) const;
  /// What rows that end in these leaves are predicted to be, as predict() does; leaf -1 has no class.
  /// Throws invalid_argument for a number that is no node of the tree.
  Classification classes_of(std::span<const std::int64_t> leaves, Confidences confidences = Confidences::all) const;
  /// The leaf in which every row ends; -1 under MissingPolicy::drop where a tested value is missing.
  std::vector<std::int64_t> apply(const Table& table, const RunOptions& run = {}) const;

  /// Reduced-error pruning with rows that the tree has not seen. Bottom up, an inner node becomes a leaf if its own
  /// majority errs on no more of these rows than its subtree does. The table needs the label; weights count. Errors as
  /// in predict.
  void prune_reduced_error(const Table& validation, const RunOptions& run = {});
  /// Keeps the smallest subtree with the least cost: the share of misclassified training weight, plus alpha per leaf
  /// (Breiman and others, 1984).
  void prune_cost_complexity(double alpha);

  const TreeOptions& options() const { return options_; }
  const TreeReport& report() const { return report_; }  ///< what fit() did; empty for a tree that was read
  const std::string& target() const { return target_; }
  const Values& classes() const { return classes_; }
  const std::vector<TreeAttribute>& attributes() const { return attributes_; }
  const std::vector<TreeNode>& nodes() const { return nodes_; }  ///< preorder, left first; 0 is the root
  /// The training weight of each class among a node's rows; without weights, the number of rows.
  const double* counts(std::int64_t node) const {
    return counts_.data() + node * static_cast<std::int64_t>(classes_.size());
  }
  std::int64_t n_leaves() const;
  std::int64_t max_depth() const;
  bool pure(std::int64_t node) const;

  /// The cuts of all inner nodes, by attribute.
  CutSet cuts() const;
  /// One rule per leaf, in the order of the leaves.
  std::vector<Rule> rules() const;

  /// The tree as tables (attributes, values, classes, nodes, counts), for model files, and back. Throws invalid_data
  /// for tables that make no tree. from_tables() keeps the options as they are.
  std::vector<std::pair<std::string, Table>> to_tables() const;
  static DecisionTree from_tables(const std::vector<std::pair<std::string, Table>>& tables, const TreeOptions& options);

 private:
  void collapse(const std::vector<double>& errors, double penalty);
  std::vector<std::int64_t> tested() const;

  TreeOptions options_;
  TreeReport report_;
  std::string target_;
  Values classes_;
  std::vector<TreeAttribute> attributes_;
  std::vector<TreeNode> nodes_;
  std::vector<double> counts_;  // nodes x classes
};

}  // namespace stope
#pragma GCC visibility pop
