// The options that say how a tree grows and is pruned, which tree and evaluate share.
#pragma once

#include <string>
#include <vector>

#include "stope/eval.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

/// Adds them all but --class-weight. `fit` gets their values.
void add_tree_options(CLI::App& app, TreeFitOptions& fit);
/// Adds --missing-policy alone: what a missing value of an attribute means to a tree.
void add_missing_policy(CLI::App& app, const std::string& group, MissingPolicy& missing, const std::string& help);
/// Their names, as CLI11 knows them.
const std::vector<std::string>& tree_option_names();
/// Throws invalid_argument for values that no tree takes, naming the option.
void check_tree_options(const TreeOptions& tree);

/// A share of rows, above 0 and below 1.
double parse_share(const std::string& word, const std::string& option);

}  // namespace stope::cli
