// A pruned tree: its picture near the root, and its rules.
#pragma once

#include <optional>
#include <string>

#include "page/classes.hpp"
#include "page/markup.hpp"
#include "stope/eval.hpp"
#include "stope/tree.hpp"

namespace stope::cli::page {

struct TreeFound {
  DecisionTree tree;
  std::string rows;     ///< which rows, in words
  std::string pruning;  ///< how it was pruned, in words
  std::optional<TreeEvaluation> scores;
  std::string scheme;  ///< of the scores, in words
  std::string command;
};

/// "12 leaves, depth 4".
std::string size_words(const DecisionTree& tree);

/// `classes` are those of the label of the table that the tree was grown on.
void write_tree(Markup& out, const TreeFound& found, const ClassList& classes);

}  // namespace stope::cli::page
