// Turns a neighbour list into a prediction, on the host. The formulas and tie rules are in rule.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "knn/vote/held_voters.hpp"
#include "knn/vote/rule.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// What a search's lists are turned into: a prediction for every k.
struct Ballot {
  VoteRule rule = VoteRule::uniform;
  VoterView voters{};  ///< points into `held`, if that is there
  std::vector<std::int64_t> ks;
  std::shared_ptr<const HeldVoters> held = {};  ///< what GPUs know the voters by; null: the CPU alone votes
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

/// Throws out_of_memory if the confidences of n_rows rows, for each of n_ks neighbour numbers, pass the run's memory
/// limit.
void require_room_for_confidences(std::int64_t n_rows, std::int64_t n_classes, std::int64_t n_ks,
                                  const RunOptions& run);
/// Returns predictions of n_rows rows that nobody voted on.
Classification blank_classification(const Values& classes, std::int64_t n_rows,
                                    Confidences confidences = Confidences::all);
/// The row's confidences; empty under Confidences::none.
std::span<double> confidences_of(Classification& result, std::int64_t row);

VoteRule vote_rule(VoteWeights weights, Compat compat);

/// Where a prediction goes: its class, if there are classes, and its numbers, if they are wanted.
struct PredictionPlace {
  std::int32_t* winner;
  std::span<double> values;
};

/// Writes the n_values() numbers of a prediction. Returns its class, or kMissingCode where there are no classes. Where
/// `values` is empty only the class is wanted, and the work does not grow with the number of classes. Throws
/// invalid_argument for a negative distance under VoteRule::inverse_distance.
std::int32_t cast_vote(const Ballot& ballot, const NeighborView<std::int64_t>& neighbors, std::span<double> values);

}  // namespace stope::knn
