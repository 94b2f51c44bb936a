#include "tree.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "discretize.hpp"
#include "run.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/tree.hpp"
#include "stope/tree_format.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

using ClassWeights = std::vector<std::pair<std::string, double>>;

// Which nodes stay, and which of them become leaves, where no leaf may weigh less than `least`.
struct Kept {
  std::vector<std::int64_t> nodes;  // numbers in the tree as it was
  std::vector<char> becomes_leaf;   // by that number
};

Kept without_light_leaves(const DecisionTree& tree, double least) {
  const std::size_t n_classes = tree.classes().size();
  const auto weight_of = [&](std::int64_t node) {
    const double* counts = tree.counts(node);
    return std::accumulate(counts, counts + n_classes, 0.0);
  };
  Kept kept;
  kept.becomes_leaf.assign(tree.nodes().size(), 0);
  std::vector<char> gone(tree.nodes().size(), 0);
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {  // parents come first
    const TreeNode& node = tree.nodes()[i];
    if (node.parent >= 0) {
      const auto parent = static_cast<std::size_t>(node.parent);
      gone[i] = static_cast<char>(gone[parent] != 0 || kept.becomes_leaf[parent] != 0);
    }
    if (gone[i] != 0) continue;
    kept.nodes.push_back(static_cast<std::int64_t>(i));
    if (!node.leaf() && std::min(weight_of(node.left), weight_of(node.right)) < least) kept.becomes_leaf[i] = 1;
  }
  return kept;
}

// The column with change(row, value) for every value.
template <class Change>
Column changed(const Column& column, const Change& change) {
  std::vector<double> values;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    values.push_back(change(static_cast<std::size_t>(row), column.at(row)));
  }
  return make_numeric(column.name, values);
}

// Whether a column of DecisionTree::to_tables() says how a node is split.
bool is_of_split(std::string_view name) {
  constexpr std::string_view kNames[] = {"attribute", "value", "cut", "score", "pairs_high", "pairs_low"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Takes back, from the root on, each split with a side that weighs less than `share` of the training weight.
DecisionTree merge_light_leaves(const DecisionTree& tree, double share) {
  if (!(share >= 0.0 && share <= 0.5)) {
    throw Error(ErrorCode::invalid_argument, "min_weight_fraction_leaf is not a number from 0 to 0.5",
                {.option = "min_weight_fraction_leaf"});
  }
  const double total = std::accumulate(tree.counts(0), tree.counts(0) + tree.classes().size(), 0.0);
  const Kept kept = without_light_leaves(tree, share * total);
  if (kept.nodes.size() == tree.nodes().size()) return tree;
  std::vector<double> place(tree.nodes().size(), -1.0);
  for (std::size_t i = 0; i < kept.nodes.size(); ++i)
    place[static_cast<std::size_t>(kept.nodes[i])] = static_cast<double>(i);
  auto tables = tree.to_tables();
  for (auto& [name, table] : tables) {
    if (name != "nodes") continue;
    table = table.take(kept.nodes);
    for (Column& column : table.columns) {
      if (column.name == "parent") {
        column = changed(column, [&](std::size_t, double parent) {
          return parent < 0.0 ? parent : place[static_cast<std::size_t>(parent)];
        });
      } else if (is_of_split(column.name)) {
        const double none = column.name == "attribute" ? -1.0 : 0.0;
        column = changed(column, [&](std::size_t i, double value) {
          return kept.becomes_leaf[static_cast<std::size_t>(kept.nodes[i])] != 0 ? none : value;
        });
      }
    }
  }
  return DecisionTree::from_tables(tables, tree.options());
}

DecisionTree fit(const Table& table, std::string_view criterion_name, std::string_view missing,
                 std::optional<std::int64_t> max_depth, std::int64_t min_samples_leaf, double min_score,
                 ClassWeights class_weights, bool balanced, double ccp_alpha, double prune_holdout,
                 double min_weight_fraction_leaf, std::uint64_t seed, Run& run) {
  TreeFitOptions options;
  options.tree.criterion = criterion(criterion_name);
  options.tree.missing = missing_policy(missing);
  options.tree.max_depth = max_depth;
  options.tree.min_samples_leaf = min_samples_leaf;
  options.tree.min_score = min_score;
  options.tree.class_weights = std::move(class_weights);
  options.tree.balanced = balanced;
  options.tree.ccp_alpha = ccp_alpha;
  options.prune_holdout = prune_holdout;
  options.seed = seed;
  return result_of(run, [&](const RunOptions& how) {
    const DecisionTree tree = fit_tree(table, options, how);
    return min_weight_fraction_leaf == 0.0 ? tree : merge_light_leaves(tree, min_weight_fraction_leaf);
  });
}

template <class T, class Member>
nb::object array_of_nodes(const DecisionTree& tree, const Member& member) {
  std::vector<T> values;
  values.reserve(tree.nodes().size());
  for (const TreeNode& node : tree.nodes()) values.push_back(static_cast<T>(member(node)));
  return array_of(std::move(values));
}

nb::dict nodes(const DecisionTree& tree) {
  nb::dict arrays;
  arrays["parent"] = array_of_nodes<std::int64_t>(tree, [](const TreeNode& node) { return node.parent; });
  arrays["children_left"] = array_of_nodes<std::int64_t>(tree, [](const TreeNode& node) { return node.left; });
  arrays["children_right"] = array_of_nodes<std::int64_t>(tree, [](const TreeNode& node) { return node.right; });
  arrays["depth"] = array_of_nodes<std::int64_t>(tree, [](const TreeNode& node) { return node.depth; });
  arrays["n_node_samples"] = array_of_nodes<std::int64_t>(tree, [](const TreeNode& node) { return node.n_rows; });
  arrays["feature"] = array_of_nodes<std::int64_t>(tree, [](const TreeNode& node) { return node.attribute; });
  arrays["threshold"] = array_of_nodes<double>(tree, [](const TreeNode& node) { return node.cut; });
  arrays["category"] = array_of_nodes<std::int64_t>(tree, [](const TreeNode& node) { return node.value; });
  arrays["score"] = array_of_nodes<double>(tree, [](const TreeNode& node) { return node.score; });
  arrays["majority"] = array_of_nodes<std::int64_t>(tree, [](const TreeNode& node) { return node.majority; });
  const std::size_t n_nodes = tree.nodes().size(), n_classes = tree.classes().size();
  const double* counts = n_nodes == 0 ? nullptr : tree.counts(0);
  arrays["value"] = array_of(std::vector<double>(counts, counts + n_nodes * n_classes), {n_nodes, n_classes});
  return arrays;
}

nb::list attributes(const DecisionTree& tree) {
  nb::list list;
  for (const TreeAttribute& one : tree.attributes()) {
    nb::dict attribute;
    attribute["name"] = one.name;
    attribute["type"] = to_string(one.type);
    attribute["symbolic"] = one.symbolic();
    attribute["values"] = one.values.names();
    attribute["has_missing"] = one.has_missing;
    attribute["fill"] = one.fill;
    list.append(attribute);
  }
  return list;
}

nb::list rules_of(const DecisionTree& tree) {
  nb::list list;
  for (const Rule& rule : tree.rules()) {
    nb::dict one;
    one["leaf"] = rule.leaf;
    one["text"] = rule_text(tree, rule);
    nb::list conditions;
    for (const RuleCondition& condition : rule.conditions) {
      const TreeAttribute& attribute = tree.attributes()[static_cast<std::size_t>(condition.attribute)];
      nb::dict part;
      part["feature"] = condition.attribute;
      if (condition.has_low) part["low"] = condition.low;
      if (condition.has_high) part["high"] = condition.high;
      if (condition.missing_only) part["missing_only"] = true;
      if (condition.or_missing) part["or_missing"] = true;
      if (condition.equal) part["equal"] = attribute.values[*condition.equal];
      if (!condition.unequal.empty()) {
        std::vector<std::string> names;
        for (const std::int32_t code : condition.unequal) names.push_back(attribute.values[code]);
        part["unequal"] = names;
      }
      conditions.append(part);
    }
    one["conditions"] = conditions;
    list.append(one);
  }
  return list;
}

nb::list reasons_of(const DecisionTree& tree) {
  nb::list list;
  for (const Reason& reason : reasons(tree)) list.append(nb::make_tuple(reason.rule, reason.text));
  return list;
}

}  // namespace

nb::object arrays_of(Classification classes) {
  const std::size_t n_rows = classes.codes.size(), n_classes = classes.classes.size();
  nb::object codes = array_of(std::move(classes.codes));
  if (classes.confidences.empty() && n_rows * n_classes > 0) return nb::make_tuple(codes, nb::none());
  return nb::make_tuple(codes, array_of(std::move(classes.confidences), {n_rows, n_classes}));
}

void bind_tree(nb::module_& module) {
  nb::class_<DecisionTree>(module, "DecisionTree", "A fitted tree.")
      .def_static("fit", &fit, nb::arg("table"), nb::kw_only(), nb::arg("criterion"), nb::arg("missing"),
                  nb::arg("max_depth").none(), nb::arg("min_samples_leaf"), nb::arg("min_score"),
                  nb::arg("class_weights"), nb::arg("balanced"), nb::arg("ccp_alpha"), nb::arg("prune_holdout"),
                  nb::arg("min_weight_fraction_leaf"), nb::arg("seed"), nb::arg("run"))
      .def(
          "apply",
          [](const DecisionTree& tree, const Table& table, Run& run) {
            return array_of(result_of(run, [&](const RunOptions& how) { return tree.apply(table, how); }));
          },
          nb::arg("table"), nb::arg("run"))
      .def("nodes", &nodes)
      .def("attributes", &attributes)
      .def("rules", &rules_of)
      .def("reasons", &reasons_of)
      .def("cuts", [](const DecisionTree& tree) { return list_of(tree.cuts()); })
      .def(
          "format",
          [](const DecisionTree& tree, std::string_view name) { return format_tree(tree, tree_format(name)); },
          nb::arg("format"))
      .def_prop_ro("n_leaves", &DecisionTree::n_leaves)
      .def_prop_ro("max_depth", &DecisionTree::max_depth)
      .def_prop_ro("target", &DecisionTree::target)
      .def_prop_ro("classes", [](const DecisionTree& tree) { return tree.classes().names(); });
}

}  // namespace stope::python
