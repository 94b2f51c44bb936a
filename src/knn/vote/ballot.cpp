#include "knn/vote/ballot.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/number_text.hpp"
#include "stope/error.hpp"

namespace stope::knn {

std::int64_t Ballot::bytes_per_query() const {
  constexpr auto kNumber = static_cast<std::int64_t>(sizeof(double)), kCode = std::int64_t{4};
  const std::int64_t prediction = checked::add(checked::mul(voters.n_values(), kNumber), kCode);
  return checked::mul(static_cast<std::int64_t>(ks.size()), prediction);
}

VoteRule vote_rule(VoteWeights weights, Compat compat) {
  const bool weighted = weights == VoteWeights::distance;
  if (compat == Compat::rapidminer) return weighted ? VoteRule::rapidminer_shares : VoteRule::rapidminer_uniform;
  return weighted ? VoteRule::inverse_distance : VoteRule::uniform;
}

std::int32_t cast_vote(const Ballot& ballot, const NeighborView<std::int64_t>& neighbors, std::span<double> values) {
  if (const std::int64_t i = first_without_weight(ballot.rule, neighbors); i >= 0) {
    throw Error(ErrorCode::invalid_argument, "votes weighted by 1/distance need distances >= 0; training row " +
                                                 std::to_string(neighbors.rows[i]) + " is at distance " +
                                                 number_text(neighbors.distances[i]));
  }
  if (ballot.voters.codes == nullptr) {
    values.front() = vote_for_mean(ballot.rule, ballot.voters, neighbors);
    return kMissingCode;
  }
  std::fill(values.begin(), values.end(), 0.0);
  return vote_for_class(ballot.rule, ballot.voters, neighbors, values);
}

}  // namespace stope::knn
