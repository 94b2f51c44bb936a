// The words that trees are written with, the same in every format.
#pragma once

#include <string>
#include <string_view>

#include "base/escape.hpp"
#include "base/number_text.hpp"
#include "stope/tree.hpp"

namespace stope::tree {

// Names and values are shown on one line (escape_controls).
std::string name_of(const TreeAttribute& attribute);
std::string value_of(const TreeAttribute& attribute, std::int32_t code);

/// The text of one of the two branches of an inner node: "age < 39.5", "age >= 39.5", "age missing", "thal = normal",
/// "thal != normal".
std::string branch_text(const DecisionTree& tree, const TreeNode& node, bool right);

std::string rows_text(std::int64_t n);  ///< "1 row", "24 rows"

/// "AML (24 rows)", "AML (24 rows, 3 of other classes)"; for weighted rows "AML (24 rows, weight 31.5, 2.5 of it of
/// other classes)".
std::string leaf_text(const DecisionTree& tree, std::int64_t node);

std::string xml_text(std::string_view text);

// Each has a file of its own.
std::string text_of(const DecisionTree& tree);
std::string json_of(const DecisionTree& tree);
std::string dot_of(const DecisionTree& tree);
std::string svg_of(const DecisionTree& tree);
std::string rules_of(const DecisionTree& tree);

}  // namespace stope::tree
