#include "knn/vote.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

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
                                                     std::to_string(d));
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

// (1 - d/T) / S with T the sum of the distances and S = k - 1, so that the weights of k neighbours add up to 1.
void rapidminer_weights(const VoteList& list, std::vector<double>& out) {
  const auto k = static_cast<double>(list.k);
  double total = 0.0;
  for (const double d : list.distances) total += d;
  double divisor = std::max(k - 1.0, 1.0);
  if (total == 0.0) {
    total = 1.0;
    divisor = k;
  }
  out.resize(list.distances.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (1.0 - list.distances[i] / total) / divisor;
}

}  // namespace

void rapidminer_confidences(const VoteList& list, VoteWeights weights, std::vector<double>& out) {
  if (weights == VoteWeights::distance && list.k > 1) {
    rapidminer_weights(list, out);
  } else {
    out.assign(list.distances.size(), 1.0 / static_cast<double>(list.k));
  }
}

double rapidminer_regression(const VoteList& list, VoteWeights weights, const std::vector<double>& target) {
  std::vector<double> vote(list.indices.size(), 1.0);
  // Also for k = 1, where the weight is 1 - d/d = 0: a defect of RapidMiner that this mode reproduces.
  if (weights == VoteWeights::distance) rapidminer_weights(list, vote);
  double sum = 0.0;
  for (std::size_t i = 0; i < vote.size(); ++i) sum += target[static_cast<std::size_t>(list.indices[i])] * vote[i];
  return weights == VoteWeights::distance ? sum : sum / static_cast<double>(list.k);
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
