#include "knn/vote.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/number_text.hpp"
#include "stope/error.hpp"

namespace stope::knn {

void neighbor_weights(const VoteList& list, VoteWeights weights, const std::vector<double>& sample_weights,
                      std::vector<double>& out) {
  out.assign(list.indices.size(), 1.0);
  if (weights == VoteWeights::distance) {
    // Neighbours at distance zero share all the weight: 1/d would make them infinite.
    const bool any_zero = std::find(list.distances.begin(), list.distances.end(), 0.0) != list.distances.end();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double d = list.distances[i];
      if (d < 0.0) {
        throw Error(ErrorCode::invalid_argument, "votes weighted by 1/distance need distances >= 0; training row " +
                                                     std::to_string(list.indices[i]) + " is at distance " +
                                                     number_text(d));
      }
      // A NaN distance (nothing in common) weighs nothing, as an infinite one does.
      out[i] = any_zero ? (d == 0.0 ? 1.0 : 0.0) : (std::isnan(d) ? 0.0 : 1.0 / d);
    }
    // 1/d overflows for subnormal distances: then those share the weight, like zeros.
    if (std::any_of(out.begin(), out.end(), [](double w) { return std::isinf(w); })) {
      for (double& w : out) w = std::isinf(w) ? 1.0 : 0.0;
    }
  }
  if (sample_weights.empty()) return;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] *= sample_weights[static_cast<std::size_t>(list.indices[i])];
}

namespace {

// RapidMiner's weighted vote, (1 - d/T) / S with T the sum of the distances and S = k - 1, so that the weights of k
// neighbours add up to 1; kept as its parts because classification and regression multiply in different order.
struct WeightedVote {
  explicit WeightedVote(const VoteList& list) : divisor(std::max(static_cast<double>(list.k) - 1.0, 1.0)) {
    for (const double d : list.distances) total += d;
    if (total != 0.0) return;
    total = 1.0;
    divisor = static_cast<double>(list.k);
  }
  double share(double distance) const { return 1.0 - distance / total; }

  double total = 0.0;
  double divisor;
};

}  // namespace

void rapidminer_confidences(const VoteList& list, VoteWeights weights, std::vector<double>& out) {
  out.assign(list.distances.size(), 1.0 / static_cast<double>(list.k));
  if (weights == VoteWeights::uniform || list.k == 1) return;
  const WeightedVote vote(list);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = vote.share(list.distances[i]) / vote.divisor;
}

double rapidminer_regression(const VoteList& list, VoteWeights weights, const std::vector<double>& target) {
  const auto label = [&](std::size_t i) { return target[static_cast<std::size_t>(list.indices[i])]; };
  double sum = 0.0;
  if (weights == VoteWeights::uniform) {
    for (std::size_t i = 0; i < list.indices.size(); ++i) sum += label(i);
    return sum / static_cast<double>(list.k);
  }
  // Also for k = 1, where the share is 1 - d/d = 0: a defect of RapidMiner that this mode reproduces.
  const WeightedVote vote(list);
  for (std::size_t i = 0; i < list.indices.size(); ++i) {
    sum += label(i) * vote.share(list.distances[i]) / vote.divisor;
  }
  return sum;
}

std::int32_t winner(std::span<const double> confidences) {
  std::int32_t best = kMissingCode;
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < confidences.size(); ++c) {
    if (confidences[c] > highest) {
      highest = confidences[c];
      best = static_cast<std::int32_t>(c);
    }
  }
  return best;
}

}  // namespace stope::knn
