// Trees as text, JSON, DOT, SVG and rules (docs/formats/trees.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/tree.hpp"

#pragma GCC visibility push(default)
namespace stope {

enum class TreeFormat { text, json, dot, svg, rules };
TreeFormat tree_format(std::string_view name);  ///< throws invalid_argument for any other name
std::string_view to_string(TreeFormat format) noexcept;

/// The whole tree as text that ends with a line end. Numbers are the shortest that read back as the same.
std::string format_tree(const DecisionTree& tree, TreeFormat format);

/// "age < 39.5 and thal = normal"; "always" where there are no conditions.
std::string rule_text(const DecisionTree& tree, const Rule& rule);

/// Why a row has its class: the rule of its leaf.
struct Reason {
  std::int64_t rule = 0;  ///< its number among rules(), from 1, as TreeFormat::rules prints it; 0 for an inner node
  std::string text;
};

/// One reason per node of the tree.
std::vector<Reason> reasons(const DecisionTree& tree);

/// Reasons of single nodes. Those of all nodes of a deep tree may take far more memory than the tree, which has to live
/// as long as this.
class Reasons {
 public:
  explicit Reasons(const DecisionTree& tree);
  /// Takes time for the depth of the node.
  Reason of(std::int64_t node) const;

 private:
  const DecisionTree& tree_;
  std::vector<std::int64_t> numbers_;  // of the rules of all nodes; 0: an inner node
};

}  // namespace stope
#pragma GCC visibility pop
