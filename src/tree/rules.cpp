// Rules: the conditions on the way to a leaf, merged by attribute (stope/tree.hpp).
#include <algorithm>
#include <cmath>

#include "base/guarded.hpp"
#include "stope/tree.hpp"

namespace stope {
namespace {

RuleCondition& condition_of(std::vector<RuleCondition>& conditions, std::int32_t attribute) {
  for (RuleCondition& condition : conditions) {
    if (condition.attribute == attribute) return condition;
  }
  conditions.push_back({.attribute = attribute});
  return conditions.back();
}

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

std::vector<Rule> DecisionTree::rules() const try {
  std::vector<Rule> rules;
  for (std::size_t leaf = 0; leaf < nodes_.size(); ++leaf) {
    if (!nodes_[leaf].leaf()) continue;
    Rule rule;
    rule.leaf = static_cast<std::int64_t>(leaf);
    std::vector<std::int64_t> way;
    for (auto at = static_cast<std::int64_t>(leaf); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
      way.push_back(at);
    }
    std::reverse(way.begin(), way.end());
    for (std::size_t i = 0; i + 1 < way.size(); ++i) {
      const TreeNode& node = nodes_[static_cast<std::size_t>(way[i])];
      const bool right = node.right == way[i + 1];
      RuleCondition& condition = condition_of(rule.conditions, node.attribute);
      if (attributes_[static_cast<std::size_t>(node.attribute)].symbolic()) {
        add_symbolic(condition, node.value, right);
      } else {
        add_numeric(condition, node.cut, right);
      }
    }
    for (RuleCondition& condition : rule.conditions) {
      const TreeAttribute& attribute = attributes_[static_cast<std::size_t>(condition.attribute)];
      std::sort(condition.unequal.begin(), condition.unequal.end());
      condition.or_missing = !attribute.symbolic() && attribute.has_missing && condition.has_high &&
                             !condition.has_low && !condition.missing_only;
    }
    rules.push_back(std::move(rule));
  }
  return rules;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
