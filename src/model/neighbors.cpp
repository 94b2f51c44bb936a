// k-NN as content: the training table, the options of search and vote, and the normalisation of other tables.
#include <algorithm>
#include <limits>
#include <utility>

#include "knn/vote/held_voters.hpp"
#include "model/kinds.hpp"
#include "stope/error.hpp"
#include "table/check_table.hpp"

namespace stope::model {
namespace {

constexpr std::string_view kParameter = "metric.";                         // an option of the metric: metric.p
constexpr const char* kNoFeatures = "the training table has no features";  // no search takes it

// A name that no column of the table has.
std::string free_name(const Table& table, std::string name) {
  const auto taken = [&] {
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [&](const Column& column) { return column.name == name; });
  };
  while (taken()) name += '_';
  return name;
}

// The weights of classes become weights of rows, which votes multiply with anyway. So a reader needs to know nothing of
// them, and the votes keep their bits.
Table with_class_weights(const Table& table, const KnnOptions& options) {
  const std::int64_t label = table.find(Role::label);
  if (!options.weighs_classes() || label < 0) return table;
  const auto held = knn::hold_voters(table, table.columns[static_cast<std::size_t>(label)], options);
  Table weighed = table;
  const std::int64_t at = table.find(Role::weight);
  const std::string name = at < 0 ? free_name(table, "weight") : table.columns[static_cast<std::size_t>(at)].name;
  Column weights = stope::column_of(name, Buffer<double>(held->sample_weights));
  weights.role = Role::weight;
  if (at < 0) {
    weighed.columns.push_back(std::move(weights));
  } else {
    weighed.columns[static_cast<std::size_t>(at)] = std::move(weights);
  }
  return weighed;
}

Table without_bystanders(const Table& table) {
  check_shape(table);
  Table kept;
  kept.n_rows = table.n_rows;
  for (const Column& column : table.columns) {
    if (column.role == Role::regular || column.role == Role::label || column.role == Role::weight) {
      kept.columns.push_back(column);
    }
  }
  return kept;
}

}  // namespace

void put_metric(const Metric& metric, Content& content) {
  content.set("metric", metric.name);
  for (const auto& [name, value] : metric.params) content.set(std::string(kParameter) + name, value);
}

Metric get_metric(const Content& content) {
  Metric metric;
  metric.name = content.text("metric");
  for (const auto& [name, value] : content.options) {
    if (name.starts_with(kParameter)) metric.params.emplace(name.substr(kParameter.size()), value);
  }
  try {
    find_metric(metric.name);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::out_of_memory) throw;
    content.fail(error.what());
  }
  return metric;
}

void put_feature_weights(const std::vector<double>& weights, Content& content) {
  if (weights.empty()) return;
  Table table;
  table.n_rows = static_cast<std::int64_t>(weights.size());
  table.columns = {make_numeric("weight", weights)};
  content.tables.push_back({"feature_weights", std::move(table)});
}

std::vector<double> get_feature_weights(const Content& content) {
  std::vector<double> weights;
  if (!content.has_table("feature_weights")) return weights;
  const Column& column = content.column("feature_weights", "weight", false);
  weights.reserve(static_cast<std::size_t>(column.size()));
  for (std::int64_t row = 0; row < column.size(); ++row) weights.push_back(column.at(row));
  return weights;
}

void put_neighbors(const NeighborsModel& model, Content& content) {
  if (model.n_neighbors < 1) {
    throw Error(ErrorCode::invalid_argument, "n_neighbors is " + std::to_string(model.n_neighbors) + ": at least 1",
                {.option = "n_neighbors"});
  }
  if (model.train.find(Role::regular) < 0) throw Error(ErrorCode::invalid_data, kNoFeatures, {model.train.source});
  content.kind = kNeighbors;
  const KnnOptions& options = model.options;
  put_metric(options.metric, content);
  content.set("compat", options.compat);
  content.set("n_neighbors", model.n_neighbors);
  content.set("weights", model.weights);
  // For people: the rows' weights in "train" hold them already.
  if (options.balanced) content.set("class_weight", "balanced");
  for (const auto& [name, weight] : options.class_weights) content.set("class_weight." + name, weight);
  content.tables.push_back({"train", without_bystanders(with_class_weights(model.train, options))});
  add_normalization(model.normalizer, content);
  put_feature_weights(options.feature_weights, content);
}

NeighborsModel get_neighbors(const Content& content) {
  NeighborsModel model;
  KnnOptions& options = model.options;
  model.normalizer = normalization_of(content);
  options.compat = content.choice<Compat>("compat");
  model.n_neighbors = content.integer("n_neighbors", 1, std::numeric_limits<std::int64_t>::max());
  model.weights = content.choice<VoteWeights>("weights");
  options.metric = get_metric(content);
  model.train = content.table("train");
  model.train.source = content.source;
  if (model.train.find(Role::regular) < 0) content.fail(kNoFeatures);
  options.feature_weights = get_feature_weights(content);
  return model;
}

}  // namespace stope::model
