// From a neighbour list to a prediction: the vote's formulas and tie rules.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stope/knn.hpp"

namespace stope::knn {

/// A neighbour list cut to k, in list order. `k` is the number asked for, which may exceed what there is.
struct VoteList {
  std::span<const std::int64_t> indices;
  std::span<const double> distances;
  std::int64_t k;
};

/// The weight of every neighbour of a list, multiplied by `sample_weights` (empty = 1). Weights of a prediction are
/// used relative to their sum. Throws invalid_argument for a negative distance under VoteWeights::distance.
void neighbor_weights(const VoteList& list, VoteWeights weights, const std::vector<double>& sample_weights,
                      std::vector<double>& out);

/// RapidMiner's confidence that each neighbour adds to its class, in list order (spec of its vote: docs/NUMERICS.md).
void rapidminer_confidences(const VoteList& list, VoteWeights weights, std::vector<double>& out);

/// RapidMiner's regression; `target` is indexed by training row.
double rapidminer_regression(const VoteList& list, VoteWeights weights, const std::vector<double>& target);

/// The first class of strictly greatest confidence, NaN never winning; kMissingCode if all are NaN.
std::int32_t winner(std::span<const double> confidences);

}  // namespace stope::knn
