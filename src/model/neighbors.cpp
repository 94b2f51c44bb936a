// k-NN as content: the training table, the options of search and vote, and the normalisation of other tables.
#include <cmath>
#include <limits>

#include "model/kinds.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

const Column* label_of(const Table& table) {
  const std::int64_t at = table.find(Role::label);
  return at < 0 ? nullptr : &table.columns[static_cast<std::size_t>(at)];
}

}  // namespace

bool NeighborsModel::classifies() const {
  const Column* const label = label_of(train);
  return label != nullptr && label->nominal();
}

bool NeighborsModel::regresses() const {
  const Column* const label = label_of(train);
  return label != nullptr && !label->nominal();
}

namespace model {
namespace {

const std::vector<std::string_view> kCompatNames = {"none", "rapidminer"};
const std::vector<std::string_view> kWeightNames = {"uniform", "distance"};
constexpr std::string_view kParameter = "metric.";  // an option of the metric: metric.p

Table without_bystanders(const Table& table) {
  Table kept;
  kept.n_rows = table.n_rows;
  for (const Column& column : table.columns) {
    if (column.role == Role::regular || column.role == Role::label || column.role == Role::weight) {
      kept.columns.push_back(column);
    }
  }
  return kept;
}

// One row per fitted column. An absent constant is NaN.
Table table_of(const Normalizer& normalizer) {
  std::vector<std::string> names;
  std::vector<std::int32_t> codes;
  std::vector<double> shift, scale, factor, offset, constant;
  for (const ColumnTransform& transform : normalizer.columns()) {
    codes.push_back(static_cast<std::int32_t>(names.size()));
    names.push_back(transform.name);
    shift.push_back(transform.shift);
    scale.push_back(transform.scale);
    factor.push_back(transform.factor);
    offset.push_back(transform.offset);
    constant.push_back(transform.constant.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  Table table;
  table.n_rows = static_cast<std::int64_t>(names.size());
  table.columns = {make_nominal("name", codes, names), make_numeric("shift", shift),
                   make_numeric("scale", scale),       make_numeric("factor", factor),
                   make_numeric("offset", offset),     make_numeric("constant", constant)};
  return table;
}

const Column& column(const Content& content, const Table& table, std::string_view name, bool nominal) {
  const std::int64_t at = table.find(name);
  if (at < 0 || table.columns[static_cast<std::size_t>(at)].nominal() != nominal) {
    content.fail("the model's normalisation lacks the column '" + std::string(name) + "'");
  }
  return table.columns[static_cast<std::size_t>(at)];
}

std::vector<ColumnTransform> transforms_of(const Content& content) {
  const Table& table = content.table("normalization");
  const Column& names = column(content, table, "name", true);
  const Column& shift = column(content, table, "shift", false);
  const Column& scale = column(content, table, "scale", false);
  const Column& factor = column(content, table, "factor", false);
  const Column& offset = column(content, table, "offset", false);
  const Column& constant = column(content, table, "constant", false);
  std::vector<ColumnTransform> transforms;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    if (names.missing(row)) content.fail("the model's normalisation has a column without a name");
    ColumnTransform transform{names.values[static_cast<std::size_t>(names.codes()[row])],
                              shift.at(row),
                              scale.at(row),
                              factor.at(row),
                              offset.at(row),
                              {}};
    if (!constant.missing(row)) transform.constant = constant.at(row);
    transforms.push_back(std::move(transform));
  }
  return transforms;
}

Table weights_table(const std::vector<double>& weights) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(weights.size());
  table.columns = {make_numeric("weight", weights)};
  return table;
}

}  // namespace

void put_neighbors(const NeighborsModel& model, Content& content) {
  content.kind = kNeighbors;
  const KnnOptions& options = model.options;
  content.set("metric", options.metric.name);
  for (const auto& [name, value] : options.metric.params) content.set(std::string(kParameter) + name, value);
  content.set("compat", std::string(kCompatNames[options.compat == Compat::rapidminer ? 1 : 0]));
  content.set("n_neighbors", model.n_neighbors);
  content.set("weights", std::string(kWeightNames[model.weights == VoteWeights::distance ? 1 : 0]));
  content.set("normalize", std::string(to_string(model.normalizer.options().method)));
  content.tables.push_back({"train", without_bystanders(model.train)});
  content.tables.push_back({"normalization", table_of(model.normalizer)});
  if (!options.feature_weights.empty()) {
    content.tables.push_back({"feature_weights", weights_table(options.feature_weights)});
  }
}

NeighborsModel get_neighbors(const Content& content) {
  NeighborsModel model;
  KnnOptions& options = model.options;
  options.metric.name = content.text("metric");
  for (const auto& [name, value] : content.options) {
    if (name.starts_with(kParameter)) options.metric.params.emplace(name.substr(kParameter.size()), value);
  }
  options.compat = content.choice("compat", kCompatNames) == 1 ? Compat::rapidminer : Compat::none;
  model.n_neighbors = content.integer("n_neighbors", 1, std::numeric_limits<std::int64_t>::max());
  model.weights = content.choice("weights", kWeightNames) == 1 ? VoteWeights::distance : VoteWeights::uniform;
  NormalizeOptions normalize;
  normalize.compat = options.compat;
  try {
    find_metric(options.metric.name);
    normalize.method = normalization(content.text("normalize"));
  } catch (const Error& error) {
    content.fail(error.what());
  }
  model.normalizer = Normalizer::of(normalize, transforms_of(content));
  model.train = content.table("train");
  model.train.source = content.source;
  for (const NamedTable& named : content.tables) {
    if (named.name != "feature_weights") continue;
    const Column& weights = column(content, named.table, "weight", false);
    for (std::int64_t row = 0; row < named.table.n_rows; ++row) options.feature_weights.push_back(weights.at(row));
  }
  return model;
}

}  // namespace model
}  // namespace stope
