// Trees for people: text, rules, DOT; and the names of the formats (stope/tree_format.hpp).
#include "stope/tree_format.hpp"

#include <cmath>

#include "base/choices.hpp"
#include "base/guarded.hpp"
#include "stope/error.hpp"
#include "tree/rule_of.hpp"
#include "tree/words.hpp"

namespace stope {
namespace tree {
namespace {

// Visits the lines of a node's branches, depth first without recursion: a tree may be as deep as the table is long.
template <class Visit>
void for_each_branch(const DecisionTree& tree, const Visit& visit) {
  for (std::size_t i = 1; i < tree.nodes().size(); ++i) {
    const TreeNode& node = tree.nodes()[i];
    const TreeNode& parent = tree.nodes()[static_cast<std::size_t>(node.parent)];
    visit(static_cast<std::int64_t>(i), branch_text(tree, parent, parent.right == static_cast<std::int64_t>(i)));
  }
}

std::string condition_text(const DecisionTree& tree, const RuleCondition& condition) {
  const TreeAttribute& attribute = tree.attributes()[static_cast<std::size_t>(condition.attribute)];
  const std::string name = name_of(attribute);
  if (condition.equal) return name + " = " + value_of(attribute, *condition.equal);
  if (!condition.unequal.empty()) {
    std::string text = name + " !=";
    for (std::size_t i = 0; i < condition.unequal.size(); ++i)
      text += (i == 0 ? " " : ", ") + value_of(attribute, condition.unequal[i]);
    return text;
  }
  if (condition.missing_only) return name + " missing";
  const bool bounded = condition.has_low && !(std::isinf(condition.low) && condition.low < 0);
  if (bounded && condition.has_high) {
    return number_text(condition.low) + " <= " + name + " < " + number_text(condition.high);
  }
  if (bounded) return name + " >= " + number_text(condition.low);
  if (!condition.has_high) return name + " present";
  return name + " < " + number_text(condition.high) + (condition.or_missing ? " or missing" : "");
}

}  // namespace

std::string text_of(const DecisionTree& tree) {
  if (tree.nodes()[0].leaf()) return leaf_text(tree, 0) + "\n";
  std::string out;
  for_each_branch(tree, [&](std::int64_t i, const std::string& branch) {
    const TreeNode& node = tree.nodes()[static_cast<std::size_t>(i)];
    for (std::int64_t depth = 1; depth < node.depth; ++depth) out += "|   ";
    out += branch;
    if (node.leaf()) out += ": " + leaf_text(tree, i);
    out += '\n';
  });
  return out;
}

std::string rules_of(const DecisionTree& tree) {
  std::string out;
  std::int64_t number = 0;
  for (const Rule& rule : tree.rules()) {
    out += std::to_string(++number) + ": if " + rule_text(tree, rule) + " then " + escape_controls(tree.target()) +
           " = " + leaf_text(tree, rule.leaf) + "\n";
  }
  return out;
}

std::string dot_of(const DecisionTree& tree) {
  std::string out = "digraph tree {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n";
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    const TreeNode& node = tree.nodes()[i];
    const std::string label = node.leaf() ? leaf_text(tree, static_cast<std::int64_t>(i))
                                          : name_of(tree.attributes()[static_cast<std::size_t>(node.attribute)]) +
                                                " (" + rows_text(node.n_rows) + ")";
    out += "  n" + std::to_string(i) + " [label=" + json_text(label) + (node.leaf() ? ", style=rounded" : "") + "];\n";
  }
  for_each_branch(tree, [&](std::int64_t i, const std::string& branch) {
    const std::int64_t parent = tree.nodes()[static_cast<std::size_t>(i)].parent;
    out += "  n" + std::to_string(parent) + " -> n" + std::to_string(i) + " [label=" + json_text(branch) + "];\n";
  });
  return out + "}\n";
}

namespace {

constexpr std::string_view kFormats[] = {"text", "json", "dot", "svg", "rules"};

}  // namespace

}  // namespace tree

TreeFormat tree_format(std::string_view name) try {
  return choice_of<TreeFormat>(tree::kFormats, name, {"format", "format"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(TreeFormat format) noexcept {
  return name_of(tree::kFormats, format);
}

std::string format_tree(const DecisionTree& tree, TreeFormat format) try {
  switch (format) {
    case TreeFormat::json: return tree::json_of(tree);
    case TreeFormat::dot: return tree::dot_of(tree);
    case TreeFormat::svg: return tree::svg_of(tree);
    case TreeFormat::rules: return tree::rules_of(tree);
    case TreeFormat::text: break;
  }
  return tree::text_of(tree);
} catch (...) {
  rethrow_as_error();
}

std::string rule_text(const DecisionTree& tree, const Rule& rule) try {
  std::string text;
  for (const RuleCondition& condition : rule.conditions) {
    text += (text.empty() ? "" : " and ") + tree::condition_text(tree, condition);
  }
  return text.empty() ? "always" : text;
} catch (...) {
  rethrow_as_error();
}

Reasons::Reasons(const DecisionTree& tree) try : tree_(tree) {
  std::int64_t number = 0;
  numbers_.reserve(tree.nodes().size());
  for (const TreeNode& node : tree.nodes()) numbers_.push_back(node.leaf() ? ++number : 0);
} catch (...) {
  rethrow_as_error();
}

Reason Reasons::of(std::int64_t node) const try {
  if (node < 0 || node >= std::ssize(numbers_)) {
    throw Error(ErrorCode::invalid_argument, "the tree has no node " + std::to_string(node));
  }
  const std::int64_t number = numbers_[static_cast<std::size_t>(node)];
  if (number == 0) return {};
  return {number, rule_text(tree_, tree::rule_of(tree_, node))};
} catch (...) {
  rethrow_as_error();
}

std::vector<Reason> reasons(const DecisionTree& tree) try {
  const Reasons all(tree);
  std::vector<Reason> of_node;
  of_node.reserve(tree.nodes().size());
  for (std::size_t node = 0; node < tree.nodes().size(); ++node) {
    of_node.push_back(all.of(static_cast<std::int64_t>(node)));
  }
  return of_node;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
