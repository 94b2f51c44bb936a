// make_neighbors_model(): the normalised training table with its options (stope/neighbors_model.hpp).
#include "stope/neighbors_model.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

const Column* label_of(const Table& table) {
  const std::int64_t at = table.find(Role::label);
  return at < 0 ? nullptr : &table.columns[static_cast<std::size_t>(at)];
}

// The weights of `table`'s features in the order of those of `normalized`. A wrong number of weights is left to the
// fit, which says so.
std::vector<double> moved_weights(const std::vector<double>& weights, const Table& table, const Table& normalized) {
  const std::vector<std::int64_t> features = table.features();
  if (weights.size() != features.size()) return weights;
  std::unordered_map<std::string_view, double> by_name;
  for (std::size_t i = 0; i < features.size(); ++i) {
    by_name.emplace(table.columns[static_cast<std::size_t>(features[i])].name, weights[i]);
  }
  std::vector<double> moved;
  moved.reserve(weights.size());
  for (const std::int64_t feature : normalized.features()) {
    moved.push_back(by_name.at(normalized.columns[static_cast<std::size_t>(feature)].name));
  }
  return moved;
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

NeighborsModel make_neighbors_model(const Table& train, const KnnOptions& knn, const NormalizeOptions& normalize,
                                    const VoteOptions& vote, const RunOptions& run) try {
  if (vote.n_neighbors < 1) {
    throw Error(ErrorCode::invalid_argument, "k = " + std::to_string(vote.n_neighbors) + " is not at least 1",
                {.option = "n_neighbors"});
  }
  NeighborsModel model;
  model.normalizer = Normalizer::fit(train, normalize, run);
  model.train = model.normalizer.apply(train, run);
  model.options = knn;
  model.options.feature_weights = moved_weights(knn.feature_weights, train, model.train);
  model.n_neighbors = vote.n_neighbors;
  model.weights = vote.weights;
  return model;
} catch (...) {
  rethrow_as_error();
}

Table features_only(Table table) try {
  for (Column& column : table.columns) {
    if (column.role != Role::regular) column.role = Role::ignore;
  }
  return table;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
