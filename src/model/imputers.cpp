// An imputation as content: the donors, and the options with which they are fitted again when the model is read.
#include <limits>

#include "model/kinds.hpp"
#include "stope/error.hpp"

namespace stope::model {
namespace {

constexpr std::string_view kTrain = "train";
constexpr std::string_view kFilled = "filled";  // names of the columns that are filled in

Table names_table(const std::vector<std::string>& names) {
  std::vector<std::int32_t> codes;
  codes.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) codes.push_back(static_cast<std::int32_t>(i));
  Table table;
  table.n_rows = std::ssize(names);
  table.columns = {make_nominal("name", codes, names)};
  return table;
}

std::vector<std::string> names_in(const Content& content) {
  const Column& names = content.names(kFilled, "name");
  std::vector<std::string> filled;
  filled.reserve(static_cast<std::size_t>(names.size()));
  for (std::int64_t row = 0; row < names.size(); ++row) {
    filled.push_back(names.values[names.codes()[row]]);
  }
  return filled;
}

}  // namespace

void put_imputer(const Imputer& model, Content& content) {
  const ImputeOptions& options = model.options();
  content.kind = kImpute;
  put_metric(options.metric, content);
  content.set("n_neighbors", options.n_neighbors);
  content.set("weights", options.weights);
  content.set("strategy", options.strategy);
  content.set("indicators", options.indicators);
  content.set("normalize", options.normalize.method);
  content.set("normalize.compat", options.normalize.compat);
  content.set("normalize.min", options.normalize.min);
  content.set("normalize.max", options.normalize.max);
  content.tables.push_back({std::string(kTrain), model.train()});
  content.tables.push_back({std::string(kFilled), names_table(model.columns())});
  put_feature_weights(options.feature_weights, content);
}

Imputer get_imputer(const Content& content, const RunOptions& run) {
  ImputeOptions options;
  options.metric = get_metric(content);
  options.n_neighbors = content.integer("n_neighbors", 1, std::numeric_limits<std::int64_t>::max());
  options.weights = content.choice<VoteWeights>("weights");
  options.strategy = content.choice<ImputeStrategy>("strategy");
  options.indicators = content.choice<Indicators>("indicators");
  options.normalize.method = content.choice<Normalization>("normalize");
  options.normalize.compat = content.choice<Compat>("normalize.compat");
  options.normalize.min = content.real("normalize.min");
  options.normalize.max = content.real("normalize.max");
  options.columns = names_in(content);
  options.feature_weights = get_feature_weights(content);
  Table train = content.table(kTrain);
  train.source = content.source;
  try {
    return Imputer::fit(train, options, run);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::unsupported) throw;
    content.fail(error.what());  // what no fitted model has
  }
}

}  // namespace stope::model
