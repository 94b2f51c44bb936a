#include "tree/words.hpp"

#include <charconv>
#include <cmath>
#include <numeric>

namespace stope::tree {

namespace {

// Six digits: sums of weights have more than people want.
std::string short_text(double value) {
  if (value == std::floor(value)) return number_text(value);
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  return {text, result.ptr};
}

}  // namespace

std::string name_of(const TreeAttribute& attribute) {
  return escape_controls(attribute.name);
}

std::string value_of(const TreeAttribute& attribute, std::int32_t code) {
  return escape_controls(attribute.values[static_cast<std::size_t>(code)]);
}

std::string rows_text(std::int64_t n) {
  return std::to_string(n) + (n == 1 ? " row" : " rows");
}

std::string branch_text(const DecisionTree& tree, const TreeNode& node, bool right) {
  const TreeAttribute& attribute = tree.attributes()[static_cast<std::size_t>(node.attribute)];
  if (attribute.symbolic()) {
    return name_of(attribute) + (right ? " = " : " != ") + value_of(attribute, node.value);
  }
  if (std::isinf(node.cut) && node.cut < 0) return name_of(attribute) + (right ? " present" : " missing");
  return name_of(attribute) + (right ? " >= " : " < ") + number_text(node.cut);
}

std::string leaf_text(const DecisionTree& tree, std::int64_t node) {
  const TreeNode& leaf = tree.nodes()[static_cast<std::size_t>(node)];
  const double* const counts = tree.counts(node);
  const double all = std::accumulate(counts, counts + tree.classes().size(), 0.0);
  const double others = all - counts[leaf.majority];
  std::string text =
      escape_controls(tree.classes()[static_cast<std::size_t>(leaf.majority)]) + " (" + rows_text(leaf.n_rows);
  const bool weighted = all != static_cast<double>(leaf.n_rows);
  if (weighted) text += ", weight " + short_text(all);
  if (others > 0) text += ", " + short_text(others) + (weighted ? " of it" : "") + " of other classes";
  return text + ")";
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // XML allows no other control characters
    }
  }
  return out;
}

}  // namespace stope::tree
