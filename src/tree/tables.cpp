// Turns trees into tables for model files, and back. A file may be hostile: every index is checked, and so is that the
// nodes make one tree (stope/tree.hpp).
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "stope/error.hpp"
#include "stope/tree.hpp"
#include "table/repeated_value.hpp"

namespace stope {
namespace {

using NamedTables = std::vector<std::pair<std::string, Table>>;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::invalid_data, "the tree: " + what);
}

Table words(const std::string& name, const std::vector<std::string>& items) {
  std::vector<std::int32_t> codes(items.size());
  std::iota(codes.begin(), codes.end(), 0);
  Table table;
  table.n_rows = static_cast<std::int64_t>(items.size());
  table.columns = {make_nominal(name, codes, items)};
  return table;
}

const Table& find(const NamedTables& tables, const std::string& name) {
  for (const auto& [key, table] : tables) {
    if (key != name) continue;
    table.validate();
    return table;
  }
  fail("the table '" + name + "' is missing");
}

const Column& column(const Table& table, const std::string& name, bool nominal) {
  const std::int64_t at = table.find(name);
  if (at < 0) fail("the column '" + name + "' is missing");
  const Column& found = table.columns[static_cast<std::size_t>(at)];
  if (found.nominal() != nominal) fail("the column '" + name + "' is of the wrong type");
  return found;
}

std::vector<std::string> words_of(const Table& table, const std::string& name) {
  const Column& items = column(table, name, true);
  if (const std::int64_t row = row_of_missing_or_repeated_value(items); row >= 0) {
    fail("row " + std::to_string(row) + " of '" + name + "' is missing, or the value of an earlier row");
  }
  std::vector<std::string> words;
  words.reserve(static_cast<std::size_t>(table.n_rows));
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    words.push_back(items.values[static_cast<std::size_t>(items.codes()[row])]);
  }
  return words;
}

// Reads a whole number from `least` to `most`.
std::int64_t whole(const Column& column, std::int64_t row, std::int64_t least, std::int64_t most) {
  const double value = column.at(row);
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) || value != std::floor(value)) {
    fail("row " + std::to_string(row) + " of '" + column.name + "' is not a whole number from " +
         std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<std::int64_t>(value);
}

Table nodes_table(const std::vector<TreeNode>& nodes) {
  std::vector<double> parent, n_rows, attribute, value, cut, score, pairs_high, pairs_low, majority;
  for (const TreeNode& node : nodes) {
    parent.push_back(static_cast<double>(node.parent));
    n_rows.push_back(static_cast<double>(node.n_rows));
    attribute.push_back(node.attribute);
    value.push_back(node.value);
    cut.push_back(node.cut);
    score.push_back(node.score);
    pairs_high.push_back(static_cast<double>(node.pairs >> 32));  // a double holds 53 bits
    pairs_low.push_back(static_cast<double>(node.pairs & 0xffffffff));
    majority.push_back(node.majority);
  }
  Table table;
  table.n_rows = static_cast<std::int64_t>(nodes.size());
  table.columns = {make_numeric("parent", parent),
                   make_numeric("n_rows", n_rows),
                   make_numeric("attribute", attribute),
                   make_numeric("value", value),
                   make_numeric("cut", cut),
                   make_numeric("score", score),
                   make_numeric("pairs_high", pairs_high),
                   make_numeric("pairs_low", pairs_low),
                   make_numeric("majority", majority)};
  return table;
}

// Reads nodes in preorder, each inner one with two children.
std::vector<TreeNode> nodes_of(const Table& table, const std::vector<TreeAttribute>& attributes,
                               std::int64_t n_classes) {
  constexpr std::int64_t kMostRows = std::int64_t{1} << 32;
  const auto n_attributes = static_cast<std::int64_t>(attributes.size());
  const Column& parent = column(table, "parent", false);
  const Column& n_rows = column(table, "n_rows", false);
  const Column& attribute = column(table, "attribute", false);
  const Column& value = column(table, "value", false);
  const Column& cut = column(table, "cut", false);
  const Column& score = column(table, "score", false);
  const Column& pairs_high = column(table, "pairs_high", false);
  const Column& pairs_low = column(table, "pairs_low", false);
  const Column& majority = column(table, "majority", false);
  if (table.n_rows == 0) fail("no nodes");
  std::vector<TreeNode> nodes;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    TreeNode node;
    node.parent = whole(parent, row, row == 0 ? -1 : 0, row - 1);
    node.n_rows = whole(n_rows, row, 0, kMostRows);
    node.attribute = static_cast<std::int32_t>(whole(attribute, row, -1, n_attributes - 1));
    node.majority = static_cast<std::int32_t>(whole(majority, row, 0, n_classes - 1));
    node.pairs = (whole(pairs_high, row, 0, (std::int64_t{1} << 31) - 1) << 32) | whole(pairs_low, row, 0, 0xffffffff);
    node.score = score.at(row);
    node.cut = cut.at(row);
    if (std::isnan(node.score) || std::isnan(node.cut)) fail("row " + std::to_string(row) + " lacks a number");
    if (!node.leaf()) {
      const TreeAttribute& tested = attributes[static_cast<std::size_t>(node.attribute)];
      const auto n_values = static_cast<std::int64_t>(tested.values.size());
      node.value = static_cast<std::int32_t>(whole(value, row, 0, tested.symbolic() ? n_values - 1 : 0));
    }
    if (row > 0) {
      TreeNode& above = nodes[static_cast<std::size_t>(node.parent)];
      if (above.leaf() || above.right >= 0) fail("node " + std::to_string(node.parent) + " has too many children");
      if (above.left < 0 && node.parent != row - 1) fail("node " + std::to_string(row) + " is not in preorder");
      (above.left < 0 ? above.left : above.right) = row;
      node.depth = above.depth + 1;
    }
    nodes.push_back(node);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].leaf() && nodes[i].right < 0) fail("node " + std::to_string(i) + " lacks a child");
  }
  return nodes;
}

}  // namespace

NamedTables DecisionTree::to_tables() const try {
  std::vector<std::string> names, values;
  std::vector<double> types, n_values, has_missing, fills;
  for (const TreeAttribute& attribute : attributes_) {
    names.push_back(attribute.name);
    types.push_back(static_cast<double>(attribute.type));
    n_values.push_back(static_cast<double>(attribute.values.size()));
    has_missing.push_back(attribute.has_missing ? 1 : 0);
    fills.push_back(attribute.fill.value_or(std::numeric_limits<double>::quiet_NaN()));
    values.insert(values.end(), attribute.values.begin(), attribute.values.end());
  }
  Table attributes = words("name", names);
  attributes.columns.push_back(make_numeric("type", types));
  attributes.columns.push_back(make_numeric("n_values", n_values));
  attributes.columns.push_back(make_numeric("has_missing", has_missing));
  attributes.columns.push_back(make_numeric("fill", fills));
  Table nodes = nodes_table(nodes_);
  for (std::size_t k = 0; k < classes_.size(); ++k) {
    std::vector<double> of_class(nodes_.size());
    for (std::size_t i = 0; i < of_class.size(); ++i) of_class[i] = counts(static_cast<std::int64_t>(i))[k];
    nodes.columns.push_back(make_numeric("count " + std::to_string(k), of_class));
  }
  return {{"attributes", attributes},
          {"values", words("value", values)},
          {"classes", words("class", classes_.names())},
          {"target", words("target", {target_})},
          {"nodes", nodes}};
} catch (...) {
  rethrow_as_error();
}

DecisionTree DecisionTree::from_tables(const NamedTables& tables, const TreeOptions& options) try {
  DecisionTree tree;
  tree.options_ = options;
  const std::vector<std::string> target = words_of(find(tables, "target"), "target");
  if (target.size() != 1) fail("no target");
  tree.target_ = target[0];
  tree.classes_ = words_of(find(tables, "classes"), "class");
  if (tree.classes_.empty()) fail("no classes");

  const Table& attributes = find(tables, "attributes");
  const std::vector<std::string> names = words_of(attributes, "name");
  const std::vector<std::string> values = words_of(find(tables, "values"), "value");
  std::size_t used = 0;
  for (std::int64_t row = 0; row < attributes.n_rows; ++row) {
    TreeAttribute attribute;
    attribute.name = names[static_cast<std::size_t>(row)];
    attribute.type = static_cast<ValueType>(
        whole(column(attributes, "type", false), row, 0, static_cast<std::int64_t>(ValueType::binominal)));
    const auto left = static_cast<std::int64_t>(values.size() - used);
    const std::int64_t n_values = whole(column(attributes, "n_values", false), row, 0, attribute.symbolic() ? left : 0);
    attribute.has_missing = whole(column(attributes, "has_missing", false), row, 0, 1) == 1;
    if (attribute.has_missing && attribute.symbolic() && n_values == 0) fail("'" + attribute.name + "' lacks a value");
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(used);
    attribute.values = std::vector<std::string>(first, first + n_values);
    used += static_cast<std::size_t>(n_values);
    const double fill = column(attributes, "fill", false).at(row);
    if (!std::isnan(fill)) attribute.fill = fill;
    tree.attributes_.push_back(std::move(attribute));
  }
  const Table& nodes = find(tables, "nodes");
  const auto n_classes = static_cast<std::int64_t>(tree.classes_.size());
  tree.nodes_ = nodes_of(nodes, tree.attributes_, n_classes);
  tree.counts_.resize(static_cast<std::size_t>(checked::mul(nodes.n_rows, n_classes)));
  std::unordered_map<std::string_view, const Column*> by_name;
  for (const Column& column : nodes.columns) by_name.emplace(column.name, &column);
  for (std::int64_t k = 0; k < n_classes; ++k) {
    const auto found = by_name.find("count " + std::to_string(k));
    if (found == by_name.end() || found->second->nominal()) column(nodes, "count " + std::to_string(k), false);
    const Column& of_class = *found->second;
    for (std::int64_t row = 0; row < nodes.n_rows; ++row) {
      const double count = of_class.at(row);
      if (!(count >= 0.0) || std::isinf(count))
        fail("row " + std::to_string(row) + " of '" + of_class.name + "' is not a valid weight");
      tree.counts_[static_cast<std::size_t>(row * n_classes + k)] = count;
    }
  }
  return tree;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
