// DecisionTree: fitting, and what follows directly from the nodes (stope/tree.hpp).
#include "stope/tree.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "base/guarded.hpp"
#include "base/number_text.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"
#include "tree/grow.hpp"

namespace stope {
namespace {

using discretize::DecisionProblem;
using discretize::kWeightUnit;

[[noreturn]] void refuse(const char* option, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what, {.option = option});
}

void check(const TreeOptions& options) {
  if (options.max_depth && *options.max_depth < 0) {
    refuse("max_depth", "the maximum depth is " + std::to_string(*options.max_depth) + ": it must be at least 0");
  }
  if (options.min_samples_leaf < 1) {
    refuse("min_samples_leaf",
           "min_samples_leaf is " + std::to_string(options.min_samples_leaf) + ": it must be at least 1");
  }
  if (!(options.min_score >= 0.0))
    refuse("min_score", "the least score " + number_text(options.min_score) + " is not >= 0");
  if (!(options.ccp_alpha >= 0.0)) refuse("ccp_alpha", "alpha " + number_text(options.ccp_alpha) + " is not >= 0");
  if (options.balanced && !options.class_weights.empty())
    refuse("balanced", "classes can have weights or be balanced, not both");
}

// Lists the first of these names, for messages.
std::string listed(const Values& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i) text += (i == 0 ? "'" : ", '") + names[i] + "'";
  return names.size() > kMost ? text + ", ..." : text;
}

// The weight of a row of each class; empty where all weigh 1.
std::vector<double> class_weights(const DecisionProblem& problem, const TreeOptions& options) {
  std::vector<double> weights;
  if (options.balanced) {
    const auto present =
        std::count_if(problem.class_totals.begin(), problem.class_totals.end(), [](std::int64_t n) { return n > 0; });
    for (const std::int64_t n : problem.class_totals) {
      const double share = static_cast<double>(present) * static_cast<double>(n);
      weights.push_back(n == 0 ? 1.0 : static_cast<double>(problem.total) / share);
    }
    return weights;
  }
  if (options.class_weights.empty()) return {};
  weights.assign(problem.classes.size(), 0.0);
  for (const auto& [name, weight] : options.class_weights) {
    const auto at = std::find(problem.classes.begin(), problem.classes.end(), name);
    if (at == problem.classes.end()) {
      refuse("class_weights", "class weights: no class is called '" + name + "'" +
                                  did_you_mean(name, problem.classes.names()) + "; there are " +
                                  listed(problem.classes));
    }
    if (!(weight >= kWeightUnit) || std::isinf(weight)) {
      refuse("class_weights",
             "the weight " + number_text(weight) + " of class '" + name + "': weights are finite and at least 2^-20");
    }
    double& own = weights[static_cast<std::size_t>(at - problem.classes.begin())];
    if (own != 0.0) refuse("class_weights", "class weights: '" + name + "' has two weights");
    own = weight;
  }
  for (double& weight : weights) {
    if (weight == 0.0) weight = 1.0;
  }
  return weights;
}

void weigh(DecisionProblem& problem, const std::vector<double>& of_class) {
  if (of_class.empty()) return;
  std::vector<std::int64_t> weights(static_cast<std::size_t>(problem.n_rows));
  std::int64_t total = 0;
  problem.class_totals.assign(problem.class_totals.size(), 0);
  for (std::int64_t row = 0; row < problem.n_rows; ++row) {
    const auto k = static_cast<std::size_t>(problem.class_of[row]);
    const double own = problem.weighted ? static_cast<double>(problem.weight(row)) * kWeightUnit : 1.0;
    const double units = std::nearbyint(own * of_class[k] / kWeightUnit);
    if (!(units <= static_cast<double>(discretize::kMostWeight - total) / 2))
      refuse("class_weights", "the weights sum to 2^42 or more");
    const std::int64_t weight = std::max<std::int64_t>(1, static_cast<std::int64_t>(units));
    weights[static_cast<std::size_t>(row)] = weight;
    problem.class_totals[k] += weight;
    total += weight;
  }
  problem.weighted = true;
  problem.weights = std::move(weights);
  problem.total = total;
}

TreeAttribute remember(const DecisionProblem& problem, std::size_t a, const Table& table) {
  const discretize::Attribute& attribute = problem.attributes[a];
  TreeAttribute kept;
  kept.name = attribute.name;
  kept.type = table.columns[static_cast<std::size_t>(attribute.column)].type;
  kept.values = attribute.values;
  kept.has_missing = attribute.has_missing;
  if (problem.fills.empty()) return kept;
  const discretize::Fill& fill = problem.fills[a];
  kept.fill = fill.number;
  if (fill.code >= 0) kept.fill = fill.code;
  return kept;
}

TreeNode public_node(const tree::GrownNode& grown, bool exact) {
  TreeNode node;
  node.parent = grown.parent;
  node.left = grown.left;
  node.right = grown.right;
  node.depth = grown.depth;
  node.n_rows = grown.n_rows;
  node.attribute = grown.attribute;
  node.value = grown.value;
  node.cut = grown.cut;
  node.score = grown.score;
  if (exact) node.pairs = static_cast<std::int64_t>(grown.w);
  return node;
}

}  // namespace

DecisionTree DecisionTree::fit(const Table& table, const TreeOptions& options, const RunOptions& run) try {
  check(options);
  DecisionProblem problem = discretize::make_problem(table, options.missing, run);
  weigh(problem, class_weights(problem, options));
  const tree::GrowOptions grow{options.criterion, options.max_depth, options.min_samples_leaf, options.min_score};
  const RunningJob running(run);
  const auto start = std::chrono::steady_clock::now();
  const tree::Grown grown = tree::grow(problem, grow, run);

  DecisionTree fitted;
  fitted.options_ = options;
  fitted.report_ = grown.report;
  fitted.report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fitted.target_ = problem.target;
  fitted.classes_ = problem.classes;
  fitted.attributes_.reserve(problem.attributes.size());
  for (std::size_t a = 0; a < problem.attributes.size(); ++a) {
    fitted.attributes_.push_back(remember(problem, a, table));
  }
  const bool exact = options.criterion == Criterion::discernibility && !problem.weighted;
  const std::size_t n_classes = problem.classes.size();
  for (std::size_t i = 0; i < grown.nodes.size(); ++i) {
    fitted.nodes_.push_back(public_node(grown.nodes[i], exact));
    const auto counts = grown.counts.begin() + static_cast<std::ptrdiff_t>(i * n_classes);
    const auto most = std::max_element(counts, counts + static_cast<std::ptrdiff_t>(n_classes));
    fitted.nodes_.back().majority = static_cast<std::int32_t>(most - counts);
  }
  for (const std::int64_t n : grown.counts) {
    fitted.counts_.push_back(problem.weighted ? static_cast<double>(n) * kWeightUnit : static_cast<double>(n));
  }
  if (options.ccp_alpha > 0.0) fitted.prune_cost_complexity(options.ccp_alpha);
  hand_report(run, "tree", fitted.report_);
  return fitted;
} catch (...) {
  rethrow_as_error();
}

std::int64_t DecisionTree::n_leaves() const {
  return std::count_if(nodes_.begin(), nodes_.end(), [](const TreeNode& node) { return node.leaf(); });
}

std::int64_t DecisionTree::max_depth() const {
  std::int64_t depth = 0;
  for (const TreeNode& node : nodes_) depth = std::max(depth, node.depth);
  return depth;
}

bool DecisionTree::pure(std::int64_t node) const {
  const double* const here = counts(node);
  return std::count_if(here, here + classes_.size(), [](double n) { return n > 0; }) < 2;
}

std::vector<std::int64_t> DecisionTree::tested() const {
  std::set<std::int64_t> attributes;
  for (const TreeNode& node : nodes_) {
    if (!node.leaf()) attributes.insert(node.attribute);
  }
  return {attributes.begin(), attributes.end()};
}

CutSet DecisionTree::cuts() const try {
  std::map<std::int32_t, std::set<double>> numbers;
  std::map<std::int32_t, std::set<std::int32_t>> codes;
  for (const TreeNode& node : nodes_) {
    if (node.leaf()) continue;
    if (attributes_[static_cast<std::size_t>(node.attribute)].symbolic()) {
      codes[node.attribute].insert(node.value);
    } else {
      numbers[node.attribute].insert(node.cut);
    }
  }
  CutSet cuts;
  for (const std::int64_t a : tested()) {
    const TreeAttribute& attribute = attributes_[static_cast<std::size_t>(a)];
    AttributeCuts of_one;
    of_one.name = attribute.name;
    of_one.symbolic = attribute.symbolic();
    const auto at = static_cast<std::int32_t>(a);
    if (of_one.symbolic) {
      for (const std::int32_t code : codes[at])
        of_one.values.push_back(attribute.values[static_cast<std::size_t>(code)]);
    } else {
      of_one.numbers.assign(numbers[at].begin(), numbers[at].end());
    }
    cuts.push_back(std::move(of_one));
  }
  return cuts;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
