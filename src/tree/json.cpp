// Trees as JSON (docs/formats/trees.md), with one line per node, so that versions of a tree can be compared.
#include <cmath>

#include "tree/words.hpp"

namespace stope::tree {
namespace {

// JSON has no infinities.
std::string json_number(double value) {
  if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
  return number_text(value);
}

template <class Items, class Text>
std::string json_list(const Items& items, const Text& text) {
  std::string out = "[";
  for (const auto& item : items) out += (out.size() > 1 ? "," : "") + text(item);
  return out + "]";
}

template <class Items>
std::string words(const Items& items) {
  return json_list(items, [](const std::string& item) { return json_text(item); });
}

std::string attributes_json(const DecisionTree& tree) {
  return json_list(tree.attributes(), [](const TreeAttribute& a) {
    return "{\"name\":" + json_text(a.name) + ",\"kind\":" + (a.symbolic() ? "\"sym\"" : "\"num\"") +
           (a.symbolic() ? ",\"values\":" + words(a.values) : "") + "}";
  });
}

std::string cuts_json(const DecisionTree& tree) {
  std::string out = "{";
  for (const AttributeCuts& cuts : tree.cuts()) {
    out += (out.size() > 1 ? "," : "") + json_text(cuts.name) + ":";
    out += cuts.symbolic ? words(cuts.values) : json_list(cuts.numbers, json_number);
  }
  return out + "}";
}

std::string split_json(const DecisionTree& tree, const TreeNode& node) {
  const TreeAttribute& attribute = tree.attributes()[static_cast<std::size_t>(node.attribute)];
  std::string out = ",\"attr\":" + std::to_string(node.attribute) + ",\"name\":" + json_text(attribute.name) +
                    ",\"kind\":" + (attribute.symbolic() ? "\"sym\"" : "\"num\"") +
                    ",\"score\":" + (node.pairs > 0 ? std::to_string(node.pairs) : json_number(node.score));
  if (attribute.symbolic()) {
    out += ",\"value\":" + json_text(attribute.values[static_cast<std::size_t>(node.value)]) +
           ",\"value_code\":" + std::to_string(node.value);
  } else {
    out += ",\"cut\":" + json_number(node.cut);
  }
  return out + ",\"left\":" + std::to_string(node.left) + ",\"right\":" + std::to_string(node.right);
}

std::string node_json(const DecisionTree& tree, std::int64_t i) {
  const TreeNode& node = tree.nodes()[static_cast<std::size_t>(i)];
  const std::vector<double> counts(tree.counts(i), tree.counts(i) + tree.classes().size());
  std::string out = "{\"id\":" + std::to_string(i) + ",\"parent\":" + std::to_string(node.parent) +
                    ",\"depth\":" + std::to_string(node.depth) + ",\"n\":" + std::to_string(node.n_rows) +
                    ",\"counts\":" + json_list(counts, json_number);
  if (!node.leaf()) return out + split_json(tree, node) + "}";
  return out + ",\"leaf\":" + json_text(tree.classes()[static_cast<std::size_t>(node.majority)]) +
         ",\"pure\":" + (tree.pure(i) ? "true" : "false") + "}";
}

}  // namespace

std::string json_of(const DecisionTree& tree) {
  std::string out = "{\"format\":\"stope tree\",\"version\":1,\"decision\":" + json_text(tree.target());
  out += ",\"classes\":" + words(tree.classes());
  out += ",\n\"criterion\":" + json_text(to_string(tree.options().criterion)) +
         ",\"missing\":" + json_text(to_string(tree.options().missing));
  out += ",\"n_nodes\":" + std::to_string(tree.nodes().size()) + ",\"n_leaves\":" + std::to_string(tree.n_leaves()) +
         ",\"max_depth\":" + std::to_string(tree.max_depth());
  out += ",\n\"attributes\":" + attributes_json(tree);
  out += ",\n\"cuts\":" + cuts_json(tree) + ",\n\"nodes\":[";
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    out += (i == 0 ? "\n" : ",\n") + node_json(tree, static_cast<std::int64_t>(i));
  }
  return out + "]}\n";
}

}  // namespace stope::tree
