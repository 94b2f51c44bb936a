// Trees as SVG: leaves side by side, and each node above the middle of its children.
#include <algorithm>
#include <array>

#include "tree/words.hpp"

namespace stope::tree {
namespace {

constexpr double kBoxWidth = 150, kBoxHeight = 36, kGap = 14, kLevel = 84, kMargin = 12;
constexpr std::size_t kLetters = 24;  // letters of 11 px that fit a box

// Classes take these colours in turn. Dark text is readable on all of them.
constexpr std::array<const char*, 8> kColors = {"#cfe3f5", "#fbdcc0", "#d3edcf", "#f3cfd6",
                                                "#e2d6f0", "#f5efc0", "#cdeeea", "#e3e3e3"};

std::string cut_off(const std::string& text) {
  if (text.size() <= kLetters) return text;
  std::size_t end = kLetters - 2;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // do not cut within a character
  return text.substr(0, end) + "..";
}

std::string text_at(double x, double y, const std::string& text, const std::string& more = "") {
  return "<text x=\"" + number_text(x) + "\" y=\"" + number_text(y) + "\"" + more + ">" + xml_text(text) + "</text>\n";
}

// The middle of every node's box. Children come after their parents.
std::vector<double> places(const DecisionTree& tree) {
  std::vector<double> x(tree.nodes().size(), 0.0);
  double next = kMargin + kBoxWidth / 2;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!tree.nodes()[i].leaf()) continue;
    x[i] = next;
    next += kBoxWidth + kGap;
  }
  for (std::size_t i = x.size(); i-- > 0;) {
    const TreeNode& node = tree.nodes()[i];
    if (node.leaf()) continue;
    x[i] = (x[static_cast<std::size_t>(node.left)] + x[static_cast<std::size_t>(node.right)]) / 2;
  }
  return x;
}

double top_of(const TreeNode& node) {
  return kMargin + static_cast<double>(node.depth) * kLevel;
}

std::string edge(const DecisionTree& tree, std::size_t i, const std::vector<double>& x) {
  const TreeNode& node = tree.nodes()[i];
  const TreeNode& parent = tree.nodes()[static_cast<std::size_t>(node.parent)];
  const double from_x = x[static_cast<std::size_t>(node.parent)], from_y = top_of(parent) + kBoxHeight;
  const bool right = parent.right == static_cast<std::int64_t>(i);
  return "<line x1=\"" + number_text(from_x) + "\" y1=\"" + number_text(from_y) + "\" x2=\"" + number_text(x[i]) +
         "\" y2=\"" + number_text(top_of(node)) + "\"/>\n" +
         text_at(x[i], top_of(node) - 6, cut_off(branch_text(tree, parent, right)), " class=\"branch\"");
}

std::string box(const DecisionTree& tree, std::size_t i, const std::vector<double>& x) {
  const TreeNode& node = tree.nodes()[i];
  const auto k = static_cast<std::size_t>(node.majority);
  const std::string fill = node.leaf() ? kColors[k % kColors.size()] : "#ffffff";
  const std::string title = node.leaf() ? leaf_text(tree, static_cast<std::int64_t>(i)) : branch_text(tree, node, true);
  const std::string name = node.leaf() ? escape_controls(tree.classes()[k])
                                       : name_of(tree.attributes()[static_cast<std::size_t>(node.attribute)]);
  return "<g><title>" + xml_text(title) + "</title><rect x=\"" + number_text(x[i] - kBoxWidth / 2) + "\" y=\"" +
         number_text(top_of(node)) + "\" width=\"" + number_text(kBoxWidth) + "\" height=\"" + number_text(kBoxHeight) +
         "\" rx=\"" + (node.leaf() ? "8" : "2") + "\" fill=\"" + fill + "\"/>\n" +
         text_at(x[i], top_of(node) + 15, cut_off(name)) + text_at(x[i], top_of(node) + 29, rows_text(node.n_rows)) +
         "</g>\n";
}

}  // namespace

std::string svg_of(const DecisionTree& tree) {
  const std::vector<double> x = places(tree);
  const double width = 2 * kMargin + static_cast<double>(tree.n_leaves()) * (kBoxWidth + kGap) - kGap;
  const double height = 2 * kMargin + static_cast<double>(tree.max_depth()) * kLevel + kBoxHeight;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number_text(width) + " " +
                    number_text(height) + "\" width=\"" + number_text(width) + "\" height=\"" + number_text(height) +
                    "\">\n<style>text{font:11px sans-serif;text-anchor:middle;fill:#222}"
                    ".branch{fill:#555}rect{stroke:#888}line{stroke:#aaa}</style>\n";
  for (std::size_t i = 1; i < x.size(); ++i) out += edge(tree, i, x);
  for (std::size_t i = 0; i < x.size(); ++i) out += box(tree, i, x);
  return out + "</svg>\n";
}

}  // namespace stope::tree
