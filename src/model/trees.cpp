// Trees as content: their tables, criterion and missing policy.
#include "model/kinds.hpp"
#include "stope/error.hpp"

namespace stope::model {

void put_tree(const DecisionTree& model, Content& content) {
  content.kind = kTree;
  content.set("criterion", std::string(to_string(model.options().criterion)));
  content.set("missing", std::string(to_string(model.options().missing)));
  content.set("leaves", model.n_leaves());
  content.set("depth", model.max_depth());
  for (auto& [name, table] : model.to_tables()) content.tables.push_back({name, std::move(table)});
}

DecisionTree get_tree(const Content& content) {
  TreeOptions options;
  try {
    options.criterion = criterion(content.text("criterion"));
    options.missing = missing_policy(content.text("missing"));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) content.fail(error.what());  // an unknown word
    throw;
  }
  std::vector<std::pair<std::string, Table>> tables;
  tables.reserve(content.tables.size());
  for (const NamedTable& named : content.tables) tables.emplace_back(named.name, named.table);
  try {
    return DecisionTree::from_tables(tables, options);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_file) content.fail(error.what());  // adds the name of the file
    throw;
  }
}

}  // namespace stope::model
