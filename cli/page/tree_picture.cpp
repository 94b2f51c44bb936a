#include "page/tree_picture.hpp"

#include <algorithm>
#include <cmath>

#include "page/label.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr double kBox = 208, kHeight = 52, kColumn = 248, kRow = 66, kMargin = 6;
constexpr std::int64_t kMostEnds = 16, kDeepest = 5;
constexpr double kRoom = kBox - 14;  // for the letters in a box

std::int64_t ends_at_depth(const DecisionTree& tree, std::int64_t depth) {
  return std::count_if(tree.nodes().begin(), tree.nodes().end(), [&](const TreeNode& node) {
    return node.depth == depth || (node.depth < depth && node.leaf());
  });
}

// Boxes without children lie one below the other, and each other box in the middle of its children.
std::vector<double> heights(const DecisionTree& tree, const TreeView& view) {
  std::vector<double> y(tree.nodes().size(), 0.0);
  double next = kMargin;
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    if (view.open[i]) continue;
    y[static_cast<std::size_t>(view.nodes[i])] = next;
    next += kRow;
  }
  for (std::size_t i = view.nodes.size(); i-- > 0;) {
    if (!view.open[i]) continue;
    const TreeNode& node = tree.nodes()[static_cast<std::size_t>(view.nodes[i])];
    y[static_cast<std::size_t>(view.nodes[i])] =
        (y[static_cast<std::size_t>(node.left)] + y[static_cast<std::size_t>(node.right)]) / 2;
  }
  return y;
}

double left_of(const TreeNode& node) {
  return kMargin + static_cast<double>(node.depth) * kColumn;
}

std::vector<double> shares(const DecisionTree& tree, std::int64_t node, const ClassList& classes) {
  std::vector<double> parts(classes.size(), 0.0);
  const double* counts = tree.counts(node);
  double sum = 0;
  for (std::size_t c = 0; c < tree.classes().size(); ++c) {
    const std::int32_t group = c < classes.group_of.size() ? classes.group_of[c] : -1;
    if (group >= 0) parts[static_cast<std::size_t>(group)] += counts[c];
    sum += counts[c];
  }
  for (double& part : parts) part = sum > 0 ? part / sum : 0;
  return parts;
}

void draw_classes(Markup& out, const DecisionTree& tree, std::int64_t node, const ClassList& classes, double x,
                  double y) {
  const std::vector<double> parts = shares(tree, node, classes);
  const double width = kBox - 16;
  double at = x + 8;
  for (std::size_t g = 0; g < parts.size(); ++g) {
    if (parts[g] <= 0) continue;
    out.empty("rect", {{"class", textured_fill(classes, g)},
                       {"x", at},
                       {"y", y + 39},
                       {"width", std::max(0.8, parts[g] * width)},
                       {"height", 8}});
    at += parts[g] * width;
  }
}

std::string majority_share(const DecisionTree& tree, std::int64_t i) {
  const double* counts = tree.counts(i);
  double sum = 0;
  for (std::size_t c = 0; c < tree.classes().size(); ++c) sum += counts[c];
  return percent(sum > 0 ? counts[tree.nodes()[static_cast<std::size_t>(i)].majority] / sum : kNoNumber);
}

std::string way_into(const DecisionTree& tree, std::int64_t i) {
  const TreeNode& node = tree.nodes()[static_cast<std::size_t>(i)];
  if (node.parent < 0) return "all rows";
  const TreeNode& parent = tree.nodes()[static_cast<std::size_t>(node.parent)];
  return branch_words(tree, parent, parent.right == i);
}

// The same within that width. A long name gives way to the value behind it, as far as half of the room.
std::string fitted_way(const DecisionTree& tree, std::int64_t i, double width) {
  std::string whole = way_into(tree, i);
  const TreeNode& node = tree.nodes()[static_cast<std::size_t>(i)];
  if (node.parent < 0 || label_width(whole) <= width) return whole;
  const TreeNode& parent = tree.nodes()[static_cast<std::size_t>(node.parent)];
  const std::string& name = tree.attributes()[static_cast<std::size_t>(parent.attribute)].name;
  const std::string rest = whole.substr(name.size());
  const std::string shown = fitted(name, std::max(width / 2, width - label_width(rest)));
  return shown + fitted(rest, width - label_width(shown));
}

void draw_box(Markup& out, const DecisionTree& tree, std::int64_t i, bool open, const ClassList& classes, double y) {
  const TreeNode& node = tree.nodes()[static_cast<std::size_t>(i)];
  const double x = left_of(node);
  const std::string& majority = tree.classes()[node.majority];
  const std::string share = majority_share(tree, i) + " of " + grouped(node.n_rows);
  out.element("g", [&] {
    out.label("title", {}, way_into(tree, i) + ": " + majority + ", " + share);
    out.empty(
        "rect",
        {{"class", "box"}, {"x", x}, {"y", y}, {"width", kBox}, {"height", kHeight}, {"rx", node.leaf() ? 9 : 2}});
    out.label("text", {{"class", "bold"}, {"x", x + 8}, {"y", y + 16}}, fitted_way(tree, i, kRoom / kBold));
    out.label("text", {{"class", "soft"}, {"x", x + 8}, {"y", y + 32}},
              fitted(majority, std::max(kRoom / 4, kRoom - label_width(share) - 4)) + " " + share);
    draw_classes(out, tree, i, classes, x, y);
    if (!node.leaf() && !open) {  // three dots: there is more below
      out.label("text", {{"class", "soft"}, {"x", x + kBox + 6}, {"y", y + kHeight / 2 + 4}}, "…");
    }
  });
}

// An edge leaves its parent in the middle.
void draw_edge(Markup& out, const DecisionTree& tree, std::int64_t i, const std::vector<double>& y) {
  const TreeNode& node = tree.nodes()[static_cast<std::size_t>(i)];
  const TreeNode& parent = tree.nodes()[static_cast<std::size_t>(node.parent)];
  const double x0 = left_of(parent) + kBox, y0 = y[static_cast<std::size_t>(node.parent)] + kHeight / 2;
  const double x1 = left_of(node), y1 = y[static_cast<std::size_t>(i)] + kHeight / 2, middle = (x0 + x1) / 2;
  out.empty("path", {{"class", "edge"},
                     {"d", "M" + attribute_number(x0) + " " + attribute_number(y0) + "H" + attribute_number(middle) +
                               "V" + attribute_number(y1) + "H" + attribute_number(x1)}});
}

}  // namespace

TreeView view_of(const DecisionTree& tree) {
  TreeView view;
  while (view.depth < std::min(kDeepest, tree.max_depth()) && ends_at_depth(tree, view.depth + 1) <= kMostEnds) {
    ++view.depth;
  }
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    const TreeNode& node = tree.nodes()[i];
    if (node.depth > view.depth) {
      ++view.n_left_out;
      continue;
    }
    view.nodes.push_back(static_cast<std::int64_t>(i));
    view.open.push_back(!node.leaf() && node.depth < view.depth);
  }
  return view;
}

std::string branch_words(const DecisionTree& tree, const TreeNode& node, bool right) {
  const TreeAttribute& attribute = tree.attributes()[static_cast<std::size_t>(node.attribute)];
  if (attribute.symbolic()) {
    return attribute.name + (right ? " = " : " ≠ ") + attribute.values[node.value];
  }
  if (std::isinf(node.cut)) return attribute.name + (right ? " is known" : " is missing");
  return attribute.name + (right ? " ≥ " : " < ") + cut_number(attribute.type, node.cut);
}

void write_tree_picture(Markup& out, Figure figure, const DecisionTree& tree, const TreeView& view,
                        const ClassList& classes, const DataTable& numbers) {
  const std::vector<double> y = heights(tree, view);
  const auto ends = std::count(view.open.begin(), view.open.end(), false);
  figure.size = {2 * kMargin + static_cast<double>(view.depth) * kColumn + kBox + (view.n_left_out > 0 ? 16 : 0),
                 2 * kMargin + static_cast<double>(ends) * kRow - (kRow - kHeight)};
  figure.narrow = Narrow::scroll;
  const auto draw = [&](Markup& svg) {
    for (const std::int64_t node : view.nodes) {
      if (node != 0) draw_edge(svg, tree, node, y);
    }
    for (std::size_t i = 0; i < view.nodes.size(); ++i) {
      draw_box(svg, tree, view.nodes[i], view.open[i], classes, y[static_cast<std::size_t>(view.nodes[i])]);
    }
  };
  write_figure(out, figure, draw, numbers);
}

}  // namespace stope::cli::page
