// Makes a prediction of a neighbour list, on the host. The formulas and tie rules are in rule.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knn/vote/rule.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// What the lists of a search are for: a prediction for every k.
struct Ballot {
  VoteRule rule = VoteRule::uniform;
  Voters voters{};  ///< points into the fitted predictor
  std::vector<std::int64_t> ks;
  /// Where the predictions of a GPU go, per k: winners[j][query], values[j][query * n_values + v]. Empty: to an
  /// Outcome.
  std::vector<std::int32_t*> winners = {};
  std::vector<double*> values = {};

  /// Bytes of the predictions of one query: what a GPU copies back in place of 12 bytes a neighbour.
  std::int64_t bytes_per_query() const;
};

/// GPUs vote themselves as long as predictions are no larger than this; what a batch of queries takes there, twice, and
/// in pinned memory follows from it. More classes are for the host, which writes the confidences anyway.
inline constexpr std::int64_t kMostVotedBytes = 1024;

VoteRule vote_rule(VoteWeights weights, Compat compat);

/// Writes the n_values() numbers of a prediction. Returns its class, or kMissingCode where there are no classes. Throws
/// invalid_argument for a negative distance under VoteRule::inverse_distance.
std::int32_t cast_vote(const Ballot& ballot, const NeighborView<std::int64_t>& neighbors, std::span<double> values);

}  // namespace stope::knn
