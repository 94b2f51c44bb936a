#include "knn/vote/ballot.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/number_text.hpp"
#include "stope/error.hpp"

namespace stope::knn {

std::int64_t Ballot::bytes_per_query() const {
  constexpr auto kNumber = static_cast<std::int64_t>(sizeof(double)), kCode = std::int64_t{4};
  const std::int64_t prediction = checked::add(checked::mul(voters.n_values(), kNumber), kCode);
  return checked::mul(static_cast<std::int64_t>(ks.size()), prediction);
}

void require_room_for_confidences(std::int64_t n_rows, std::int64_t n_classes, std::int64_t n_ks,
                                  const RunOptions& run) {
  const std::int64_t bytes = checked::mul(checked::mul(n_rows, n_classes), checked::mul(n_ks, sizeof(double)));
  require_memory(
      "the confidences of " + std::to_string(n_rows) + " rows and " + std::to_string(n_classes) + " classes need",
      bytes, run);
}

Classification blank_classification(const Values& classes, std::int64_t n_rows, Confidences confidences) {
  const std::int64_t n_values = confidences == Confidences::all ? checked::mul(n_rows, classes.size()) : 0;
  return {classes, std::vector<std::int32_t>(static_cast<std::size_t>(n_rows), kMissingCode),
          std::vector<double>(static_cast<std::size_t>(n_values), 0.0)};
}

std::span<double> confidences_of(Classification& result, std::int64_t row) {
  const auto n_classes = static_cast<std::size_t>(result.classes.size());
  if (result.confidences.empty()) return {};
  return std::span(result.confidences).subspan(static_cast<std::size_t>(row) * n_classes, n_classes);
}

VoteRule vote_rule(VoteWeights weights, Compat compat) {
  const bool weighted = weights == VoteWeights::distance;
  if (compat == Compat::rapidminer) return weighted ? VoteRule::rapidminer_shares : VoteRule::rapidminer_uniform;
  return weighted ? VoteRule::inverse_distance : VoteRule::uniform;
}

namespace {

// Votes among the classes of the list alone, with the winner of a vote among all. A class without a neighbour has the
// confidence of any other such class: one of them, the first, stands for all.
std::int32_t winner_of(const Ballot& ballot, const NeighborView<std::int64_t>& neighbors) {
  if (ballot.voters.n_classes == 0) return kMissingCode;
  const bool rapidminer = ballot.rule == VoteRule::rapidminer_uniform || ballot.rule == VoteRule::rapidminer_shares;
  const auto n = static_cast<std::size_t>(neighbors.n);
  std::vector<std::int32_t> own(n), classes;
  std::vector<double> sample_weights(n);
  std::vector<std::int64_t> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t code = ballot.voters.codes[neighbors.rows[i]];
    own[i] = rapidminer && code < 0 ? 0 : code;
    sample_weights[i] = ballot.voters.sample_weight(neighbors.rows[i]);
    rows[i] = static_cast<std::int64_t>(i);
  }
  classes = own;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  std::size_t absent = 0;  // classes before it are 0, 1, 2, ...
  while (absent < classes.size() && classes[absent] == static_cast<std::int32_t>(absent)) ++absent;
  if (static_cast<std::int64_t>(absent) < ballot.voters.n_classes) {
    classes.insert(classes.begin() + static_cast<std::ptrdiff_t>(absent), static_cast<std::int32_t>(absent));
  }
  for (std::int32_t& code : own) {
    code = static_cast<std::int32_t>(std::lower_bound(classes.begin(), classes.end(), code) - classes.begin());
  }
  std::vector<double> values(classes.size());
  const VoterView voters{own.data(), static_cast<std::int64_t>(classes.size()), nullptr, sample_weights.data(),
                         neighbors.n};
  const NeighborView<std::int64_t> list{neighbors.distances, rows.data(), neighbors.n, neighbors.k, neighbors.weights};
  const std::int32_t winner = vote_for_class(ballot.rule, voters, list, values.data());
  return winner < 0 ? winner : classes[static_cast<std::size_t>(winner)];
}

}  // namespace

std::int32_t cast_vote(const Ballot& ballot, const NeighborView<std::int64_t>& neighbors, std::span<double> values) {
  if (const std::int64_t i = first_without_weight(ballot.rule, neighbors); i >= 0) {
    throw Error(ErrorCode::invalid_argument,
                "votes weighted by 1/distance need distances >= 0; training row " + std::to_string(neighbors.rows[i]) +
                    " is at distance " + number_text(neighbors.distances[i]),
                {.option = "weights"});
  }
  if (ballot.voters.codes == nullptr) {
    values.front() = vote_for_mean(ballot.rule, ballot.voters, neighbors);
    return kMissingCode;
  }
  if (values.empty()) return winner_of(ballot, neighbors);
  std::fill(values.begin(), values.end(), 0.0);
  return vote_for_class(ballot.rule, ballot.voters, neighbors, values);
}

}  // namespace stope::knn
