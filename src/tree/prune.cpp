// Pruning: bottom up, an inner node becomes a leaf if that costs no more than its subtree (stope/tree.hpp).
#include <numeric>

#include "base/guarded.hpp"
#include "base/number_text.hpp"
#include "stope/error.hpp"
#include "stope/tree.hpp"
#include "table/check_table.hpp"

namespace stope {

// errors[i] is the error of node i as a leaf. A subtree costs the errors of its leaves, and `penalty` for each of its
// leaves but one. Children come after their parents, so the loop goes backwards: every subtree is settled before it is
// compared.
void DecisionTree::collapse(const std::vector<double>& errors, double penalty) {
  std::vector<double> cost = errors;
  std::vector<char> is_leaf(nodes_.size(), 1);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const TreeNode& node = nodes_[i];
    if (node.leaf()) continue;
    const double below =
        cost[static_cast<std::size_t>(node.left)] + cost[static_cast<std::size_t>(node.right)] + penalty;
    if (errors[i] <= below) continue;
    is_leaf[i] = 0;
    cost[i] = below;
  }
  std::vector<TreeNode> kept;
  std::vector<double> counts;
  std::vector<std::int64_t> place(nodes_.size(), -1);  // a node's number in the result; -1: it is not there
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    TreeNode node = nodes_[i];
    if (i > 0) {
      const std::int64_t parent = place[static_cast<std::size_t>(node.parent)];
      if (parent < 0 || kept[static_cast<std::size_t>(parent)].leaf()) continue;
      TreeNode& above = kept[static_cast<std::size_t>(parent)];
      (above.left < 0 ? above.left : above.right) = static_cast<std::int64_t>(kept.size());
      node.parent = parent;
    }
    node.left = node.right = -1;
    if (is_leaf[i] != 0) {
      node.attribute = -1;
      node.value = 0;
      node.cut = node.score = 0.0;
      node.pairs = 0;
    }
    place[i] = static_cast<std::int64_t>(kept.size());
    kept.push_back(node);
    const double* const from = this->counts(static_cast<std::int64_t>(i));
    counts.insert(counts.end(), from, from + classes_.size());
  }
  nodes_ = std::move(kept);
  counts_ = std::move(counts);
}

void DecisionTree::prune_cost_complexity(double alpha) try {
  if (!(alpha >= 0.0)) {
    throw Error(ErrorCode::invalid_argument, "alpha " + number_text(alpha) + " is not a number >= 0",
                {.option = "ccp_alpha"});
  }
  const double total = std::accumulate(counts(0), counts(0) + classes_.size(), 0.0);
  std::vector<double> errors;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const double* const here = counts(static_cast<std::int64_t>(i));
    errors.push_back(std::accumulate(here, here + classes_.size(), 0.0) - here[nodes_[i].majority]);
  }
  collapse(errors, alpha * total);
} catch (...) {
  rethrow_as_error();
}

void DecisionTree::prune_reduced_error(const Table& validation, const RunOptions& run) try {
  check_shape(validation);
  const std::int64_t at = validation.find(Role::label);
  if (at < 0 || !validation.columns[static_cast<std::size_t>(at)].nominal()) {
    throw Error(ErrorCode::invalid_argument, "pruning needs rows with a nominal label", {validation.source});
  }
  const Column& label = validation.columns[static_cast<std::size_t>(at)];
  const std::int64_t weight_at = validation.find(Role::weight);
  const std::vector<std::int64_t> leaves = apply(validation, run);
  check_codes(label);
  std::vector<double> errors(nodes_.size(), 0.0);
  for (std::int64_t row = 0; row < validation.n_rows; ++row) {
    const std::int64_t leaf = leaves[static_cast<std::size_t>(row)];
    if (leaf < 0 || label.missing(row)) continue;
    const double weight = weight_at < 0 ? 1.0 : validation.columns[static_cast<std::size_t>(weight_at)].at(row);
    const std::string& truth = label.values[static_cast<std::size_t>(label.codes()[row])];
    for (std::int64_t i = leaf; i >= 0; i = nodes_[static_cast<std::size_t>(i)].parent) {
      const auto node = static_cast<std::size_t>(i);
      if (classes_[static_cast<std::size_t>(nodes_[node].majority)] != truth) errors[node] += weight;
    }
  }
  collapse(errors, 0.0);
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
