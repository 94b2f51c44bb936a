// k-NN with all that a prediction needs: the normalised training table, the options, and the normalisation of others.
//
//   const NeighborsModel model = make_neighbors_model(train, {}, {.method = Normalization::z}, {.n_neighbors = 9});
//   const Predictor predictor({outline(train), model});   // stope/predictor.hpp
#pragma once

#include <cstdint>

#include "stope/knn.hpp"
#include "stope/normalize.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// k-NN as it is saved. It is fitted when it is used, in one pass over the table.
struct NeighborsModel {
  Table train;  ///< normalised; features, label and weights are saved, other columns are not
  KnnOptions options;
  Normalizer normalizer;  ///< to be applied to other tables
  std::int64_t n_neighbors = VoteOptions{}.n_neighbors;
  VoteWeights weights = VoteWeights::uniform;

  /// Whether its label makes it a classifier or a regressor. Without a label it only finds neighbours.
  bool classifies() const;
  bool regresses() const;
  VoteOptions vote() const { return {.n_neighbors = n_neighbors, .weights = weights}; }
};

/// Normalises `train` and keeps the options. `knn.feature_weights` follow the features of `train`; each moves with its
/// column where normalising moves columns (Compat::rapidminer). Exclusions of `vote` are not kept. The metric is not
/// checked against the table: fitting does that. Throws what Normalizer::fit throws, and invalid_argument for a k below
/// 1. Cost: that of the normalisation; Normalization::none shares the table.
NeighborsModel make_neighbors_model(const Table& train, const KnnOptions& knn = {},
                                    const NormalizeOptions& normalize = {}, const VoteOptions& vote = {},
                                    const RunOptions& run = {});

/// The table with its features alone: every other column gets the role `ignore`. A model of it finds neighbours and
/// predicts nothing.
Table features_only(Table table);

}  // namespace stope
#pragma GCC visibility pop
