// Turns a neighbour list into a prediction, on the host. The formulas and tie rules are in rule.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knn/vote/rule.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// What a search's lists are turned into: a prediction for every k.
struct Ballot {
  VoteRule rule = VoteRule::uniform;
  Voters voters{};  ///< points into the fitted predictor
  std::vector<std::int64_t> ks;
  /// Where a GPU's predictions go, per k: winners[j][query], values[j][query * n_values + v]. If empty, they go to an
  /// Outcome.
  std::vector<std::int32_t*> winners = {};
  std::vector<double*> values = {};

  /// Bytes of one query's predictions, which a GPU copies back in place of 12 bytes per neighbour.
  std::int64_t bytes_per_query() const;
};

/// GPUs vote themselves as long as predictions are no larger than this. It also sets the memory of a batch of queries,
/// twice on the GPU and in pinned memory. The host votes on more classes than that; it writes the confidences anyway.
inline constexpr std::int64_t kMostVotedBytes = 1024;

VoteRule vote_rule(VoteWeights weights, Compat compat);

/// Writes the n_values() numbers of a prediction. Returns its class, or kMissingCode where there are no classes. Throws
/// invalid_argument for a negative distance under VoteRule::inverse_distance.
std::int32_t cast_vote(const Ballot& ballot, const NeighborView<std::int64_t>& neighbors, std::span<double> values);

}  // namespace stope::knn
