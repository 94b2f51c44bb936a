#include "arguments/tree_arguments.hpp"

#include <fmt/format.h>

#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "stope/error.hpp"

namespace stope::cli {

double parse_share(const std::string& word, const std::string& option) {
  const double share = parse_real(word, option);
  if (share > 0.0 && share < 1.0) return share;
  throw Error(ErrorCode::invalid_argument, option + ": '" + word + "' is not between 0 and 1");
}

void add_missing_policy(CLI::App& app, const std::string& group, MissingPolicy& missing, const std::string& help) {
  OptionGroup(app, group)
      .parsed("--missing-policy", "error|value|drop|fill", help,
              [&missing](const std::string& word) { missing = missing_policy(word); });
}

void add_tree_options(CLI::App& app, TreeFitOptions& fit) {
  OptionGroup group(app, "Tree");
  TreeOptions& tree = fit.tree;
  group.parsed("--criterion", "discernibility|gini|entropy",
               "What a split is worth: pairs it separates, or its gain [discernibility]",
               [&tree](const std::string& word) { tree.criterion = criterion(word); });
  group.parsed("--max-depth", "N", "The root has depth 0; default: any",
               [&tree](const std::string& word) { tree.max_depth = parse_integer(word, "--max-depth"); });
  group.integer("--min-samples-leaf,--min-rows", tree.min_samples_leaf, "N", "Fewest rows of a leaf [1]");
  group.real("--min-score", tree.min_score, "S", "Least worth of a split [0: more than nothing]");
  group.real("--ccp-alpha", tree.ccp_alpha, "A",
             "Cost-complexity pruning: a leaf costs as much as this share of the rows misclassified [0]");
  group.parsed("--prune-holdout", "SHARE",
               "Reduced-error pruning: this share of the rows, e.g. 0.3, prunes the tree of the others",
               [&fit](const std::string& word) { fit.prune_holdout = parse_share(word, "--prune-holdout"); });
}

const std::vector<std::string>& tree_option_names() {
  static const std::vector<std::string> names = {"--criterion", "--max-depth", "--min-samples-leaf",
                                                 "--min-score", "--ccp-alpha", "--prune-holdout"};
  return names;
}

void check_tree_options(const TreeOptions& tree) {
  if (tree.max_depth && *tree.max_depth < 0) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--max-depth: {} is below 0", *tree.max_depth));
  }
  if (tree.min_samples_leaf < 1) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--min-samples-leaf: {} is below 1", tree.min_samples_leaf));
  }
  if (tree.min_score < 0) throw Error(ErrorCode::invalid_argument, "--min-score is below 0");
  if (tree.ccp_alpha < 0) throw Error(ErrorCode::invalid_argument, "--ccp-alpha is below 0");
}

}  // namespace stope::cli
