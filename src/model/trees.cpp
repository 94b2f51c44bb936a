// Trees as content: their tables and the options with which they were grown.
#include <limits>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "model/kinds.hpp"
#include "stope/error.hpp"

namespace stope::model {
namespace {

constexpr std::string_view kClassWeight = "class_weight.";  // class_weight.NAME: the weight of that class
const std::vector<std::string> kAnswers = {"no", "yes"};

void put_options(const TreeOptions& options, Content& content) {
  content.set("criterion", std::string(to_string(options.criterion)));
  content.set("missing", std::string(to_string(options.missing)));
  if (options.max_depth) content.set("max_depth", *options.max_depth);
  content.set("min_samples_leaf", options.min_samples_leaf);
  content.set("min_score", options.min_score);
  content.set("ccp_alpha", options.ccp_alpha);
  content.set("balanced", std::string(kAnswers[options.balanced ? 1 : 0]));
  for (const auto& [name, weight] : options.class_weights) content.set(std::string(kClassWeight) + name, weight);
}

// Options that only growing uses may be absent.
TreeOptions options_of(const Content& content) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  TreeOptions options;
  try {
    options.criterion = criterion(content.text("criterion"));
    options.missing = missing_policy(content.text("missing"));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) content.fail(error.what());  // an unknown word
    throw;
  }
  const auto has = [&](std::string_view name) { return content.find(name) != nullptr; };
  if (has("max_depth")) options.max_depth = content.integer("max_depth", 0, kMost);
  if (has("min_samples_leaf")) options.min_samples_leaf = content.integer("min_samples_leaf", 0, kMost);
  if (has("min_score")) options.min_score = content.real("min_score");
  if (has("ccp_alpha")) options.ccp_alpha = content.real("ccp_alpha");
  if (has("balanced")) options.balanced = content.choice("balanced", kAnswers) == 1;
  for (const auto& option : content.options) {
    if (!option.first.starts_with(kClassWeight)) continue;
    options.class_weights.emplace_back(option.first.substr(kClassWeight.size()), content.real(option));
  }
  return options;
}

// The tree holds the counts of all classes in all nodes while their tables are still there.
void require_room_for_counts(const Content& content, const RunOptions& run) {
  const std::int64_t n_counts = checked::mul(content.table("nodes").n_rows, content.table("classes").n_rows);
  std::int64_t bytes = checked::mul(n_counts, sizeof(double));
  for (const NamedTable& named : content.tables) bytes = checked::add(bytes, named.table.bytes_in_memory());
  require_memory("the model's tables and the class counts of its nodes need", bytes, run, {content.source});
}

}  // namespace

void put_tree(const DecisionTree& model, Content& content) {
  content.kind = kTree;
  put_options(model.options(), content);
  if (!model.nodes().empty()) content.set("rows", model.nodes().front().n_rows);
  content.set("leaves", model.n_leaves());
  content.set("depth", model.max_depth());
  for (auto& [name, table] : model.to_tables()) content.tables.push_back({name, std::move(table)});
}

DecisionTree get_tree(const Content& content, const RunOptions& run) {
  require_room_for_counts(content, run);
  const TreeOptions options = options_of(content);
  std::vector<std::pair<std::string, Table>> tables;
  tables.reserve(content.tables.size());
  for (const NamedTable& named : content.tables) tables.emplace_back(named.name, named.table);
  try {
    return DecisionTree::from_tables(tables, options);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_data) content.fail(error.what());  // adds the name of the file
    throw;
  }
}

}  // namespace stope::model
