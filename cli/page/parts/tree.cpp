#include "page/parts/tree.hpp"

#include <algorithm>
#include <cmath>

#include "page/command_line.hpp"
#include "page/tree_picture.hpp"
#include "page/words.hpp"
#include "stope/tree_format.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kMostRules = 100;
constexpr std::size_t kRuleLetters = 600;

DataTable nodes_of(const DecisionTree& tree, const TreeView& view) {
  DataTable table{"The boxes of the picture, from the root on",
                  {"condition", "depth", "rows", "largest class", "its share"},
                  {Cell::text, Cell::number, Cell::number, Cell::text, Cell::number},
                  {}};
  table.rows.reserve(view.nodes.size());
  for (const std::int64_t i : view.nodes) {
    const TreeNode& node = tree.nodes()[static_cast<std::size_t>(i)];
    const double* counts = tree.counts(i);
    double sum = 0;
    for (std::size_t c = 0; c < tree.classes().size(); ++c) sum += counts[c];
    const TreeNode* parent = node.parent < 0 ? nullptr : &tree.nodes()[static_cast<std::size_t>(node.parent)];
    table.rows.push_back(
        {parent == nullptr ? "all rows" : cut_off(branch_words(tree, *parent, parent->right == i), 120),
         std::to_string(node.depth), grouped(node.n_rows), as_name(tree.classes()[node.majority]),
         percent(sum > 0 ? counts[node.majority] / sum : kNoNumber)});
  }
  return table;
}

// The rules of the most rows first.
void write_rules(Markup& out, const DecisionTree& tree) {
  std::vector<Rule> rules = tree.rules();
  std::stable_sort(rules.begin(), rules.end(), [&](const Rule& a, const Rule& b) {
    return tree.nodes()[static_cast<std::size_t>(a.leaf)].n_rows >
           tree.nodes()[static_cast<std::size_t>(b.leaf)].n_rows;
  });
  const std::size_t shown = std::min(kMostRules, rules.size());
  out.element("details", [&] {
    out.element("summary", shown == rules.size() ? "All " + grouped(std::ssize(rules), "rule")
                                                 : "The " + grouped(static_cast<std::int64_t>(shown)) + " largest of " +
                                                       grouped(std::ssize(rules), "rule"));
    out.element("ol", {{"class", "rules"}}, [&] {
      for (std::size_t i = 0; i < shown; ++i) {
        const TreeNode& leaf = tree.nodes()[static_cast<std::size_t>(rules[i].leaf)];
        const double* counts = tree.counts(rules[i].leaf);
        double sum = 0;
        for (std::size_t c = 0; c < tree.classes().size(); ++c) sum += counts[c];
        out.element("li", "If " + cut_off(rule_text(tree, rules[i]), kRuleLetters) + ": " +
                              in_quotes(tree.classes()[leaf.majority]) + " (" +
                              percent(sum > 0 ? counts[leaf.majority] / sum : kNoNumber) + " of " +
                              grouped(leaf.n_rows, "row") + ")");
      }
    });
  });
}

}  // namespace

std::string size_words(const DecisionTree& tree) {
  return grouped(tree.n_leaves(), "leaf", "leaves") + ", depth " + grouped(tree.max_depth());
}

void write_tree(Markup& out, const TreeFound& found, const ClassList& classes) {
  const DecisionTree& tree = found.tree;
  const TreeView view = view_of(tree);
  std::string message =
      "The tree has " + size_words(tree) + " and uses " + grouped(std::ssize(tree.cuts()), "column") + ".";
  if (found.scores) {
    message += " Trees grown in the same way predict " + percent(found.scores->scores.accuracy) +
               " of the rows rightly (" + found.scheme + ").";
  }
  out.element("p", message);
  if (!found.rows.empty()) {
    out.element("p", {{"class", "soft small"}},
                "Grown on " + found.rows + "." + (found.pruning.empty() ? "" : " " + found.pruning));
  }
  write_legend(out, classes, Key::texture);
  std::string caption =
      "Each box says under which condition rows come to it, and its largest class with its share. The bar shows all "
      "classes. Round boxes are leaves.";
  if (view.n_left_out > 0) {
    caption += " " + grouped(view.n_left_out, "node") + " deeper than " + std::to_string(view.depth) +
               " steps are left out of the picture (…); the rules below have them.";
  }
  write_tree_picture(out, {"tree-picture", "The tree", message, caption, {}, Narrow::scroll}, tree, view, classes,
                     nodes_of(tree, view));
  write_rules(out, tree);
  write_command(out, found.command);
}

}  // namespace stope::cli::page
