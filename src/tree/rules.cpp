// Rules: the conditions on the way to a leaf, merged by attribute (stope/tree.hpp).
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/guarded.hpp"
#include "stope/tree.hpp"
#include "tree/rule_of.hpp"

namespace stope {
namespace {

void add_numeric(RuleCondition& condition, double cut, bool right) {
  if (right) {
    if (!condition.has_low || cut > condition.low) condition.low = cut;
    condition.has_low = true;
  } else if (std::isinf(cut) && cut < 0) {
    condition.missing_only = true;  // no number is below -infinity
  } else {
    if (!condition.has_high || cut < condition.high) condition.high = cut;
    condition.has_high = true;
  }
}

void add_symbolic(RuleCondition& condition, std::int32_t value, bool right) {
  if (right) {
    condition.equal = value;
    condition.unequal.clear();
  } else if (!condition.equal) {
    condition.unequal.push_back(value);
  }
}

}  // namespace

Rule tree::rule_of(const DecisionTree& tree, std::int64_t leaf) {
  const std::vector<TreeNode>& nodes = tree.nodes();
  std::vector<std::int64_t> way;
  for (std::int64_t at = leaf; at >= 0; at = nodes[static_cast<std::size_t>(at)].parent) way.push_back(at);
  std::reverse(way.begin(), way.end());
  Rule rule;
  rule.leaf = leaf;
  std::unordered_map<std::int32_t, std::size_t> places;  // of attributes among the conditions
  for (std::size_t i = 0; i + 1 < way.size(); ++i) {
    const TreeNode& node = nodes[static_cast<std::size_t>(way[i])];
    const bool right = node.right == way[i + 1];
    const auto [place, is_new] = places.emplace(node.attribute, rule.conditions.size());
    if (is_new) rule.conditions.push_back({.attribute = node.attribute});
    RuleCondition& condition = rule.conditions[place->second];
    if (tree.attributes()[static_cast<std::size_t>(node.attribute)].symbolic()) {
      add_symbolic(condition, node.value, right);
    } else {
      add_numeric(condition, node.cut, right);
    }
  }
  for (RuleCondition& condition : rule.conditions) {
    const TreeAttribute& attribute = tree.attributes()[static_cast<std::size_t>(condition.attribute)];
    std::sort(condition.unequal.begin(), condition.unequal.end());
    condition.or_missing = !attribute.symbolic() && attribute.has_missing && condition.has_high && !condition.has_low &&
                           !condition.missing_only;
  }
  return rule;
}

std::vector<Rule> DecisionTree::rules() const try {
  std::vector<Rule> rules;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].leaf()) rules.push_back(tree::rule_of(*this, static_cast<std::int64_t>(node)));
  }
  return rules;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
