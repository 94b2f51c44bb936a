// Trees as text, JSON, DOT, SVG and rules (docs/formats/trees.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stope/tree.hpp"

namespace stope {

enum class TreeFormat { text, json, dot, svg, rules };
TreeFormat tree_format(std::string_view name);  ///< throws invalid_argument for any other name

/// The whole tree as text that ends with a line end. Numbers are the shortest that read back as the same.
std::string format_tree(const DecisionTree& tree, TreeFormat format);

/// "age < 39.5 and thal = normal"; "always" where there are no conditions.
std::string rule_text(const DecisionTree& tree, const Rule& rule);

}  // namespace stope
