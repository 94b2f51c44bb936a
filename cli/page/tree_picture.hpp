// A tree as a picture that grows from left to right: a box for each node with what it tests, its rows and a bar of its
// classes. Deep or bushy trees are cut, and the picture says how much is below a box.
#pragma once

#include <cstdint>

#include "page/classes.hpp"
#include "page/figure.hpp"
#include "stope/tree.hpp"

namespace stope::cli::page {

/// The part of a tree that fits into a readable picture.
struct TreeView {
  std::vector<std::int64_t> nodes;  ///< those that are drawn, in preorder
  std::vector<bool> open;           ///< whether the children of a drawn node are drawn, too
  std::int64_t depth = 0;
  std::int64_t n_left_out = 0;
};

/// The nodes near the root, as deep as at most some 16 of them have no children in the picture.
TreeView view_of(const DecisionTree& tree);

/// Fills the figure's size.
void write_tree_picture(Markup& out, Figure figure, const DecisionTree& tree, const TreeView& view,
                        const ClassList& classes, const DataTable& numbers);

/// "age ≥ 27.5", "age < 27.5", "color = red", "color ≠ red", "age is missing".
std::string branch_words(const DecisionTree& tree, const TreeNode& node, bool right);

}  // namespace stope::cli::page
