// The arithmetic of a vote, for host and device: the weights of a list's neighbours, confidences, means, winners. The
// order of every sum is decided here alone, so that a GPU's predictions have the host's bits.
#pragma once

#include <cstdint>

#include "knn/measure/measure.hpp"

namespace stope::knn {

enum class VoteRule : std::int32_t {
  uniform,
  inverse_distance,
  rapidminer_uniform,  ///< 1/k each, for the k that was asked for
  rapidminer_shares,   ///< (1 - d/T) / S; docs/NUMERICS.md
  given,               ///< the caller's weight of every neighbour
};

/// A neighbour list in its order, cut to k. `k` is the number asked for, which may exceed the length of the list.
template <class Row>
struct NeighborView {
  const double* distances;
  const Row* rows;
  std::int64_t n;
  std::int64_t k;
  const double* weights = nullptr;  ///< VoteRule::given
};

/// What training rows vote with: classes (below 0 if missing) or, where `codes` is null, targets.
struct VoterView {
  const std::int32_t* codes;
  std::int64_t n_classes;
  const double* targets;
  const double* sample_weights;  ///< null: all 1
  std::int64_t n_rows;           ///< training rows

  /// How many numbers a prediction has: the confidences, or one mean.
  STOPE_HD std::int64_t n_values() const { return codes != nullptr ? n_classes : 1; }
  STOPE_HD double sample_weight(std::int64_t row) const {
    return sample_weights != nullptr ? sample_weights[row] : 1.0;
  }
};

/// Makes every NaN the same one: sign and payload would differ between CPU and GPU.
STOPE_HD inline double canonical_nan(double value) {
  return is_missing(value) ? kNaN : value;
}

/// Returns the first neighbour that has no weight under the rule because its distance is negative; -1 if there is none.
template <class Row>
STOPE_HD std::int64_t first_without_weight(VoteRule rule, const NeighborView<Row>& list) {
  if (rule != VoteRule::inverse_distance) return -1;
  for (std::int64_t i = 0; i < list.n; ++i) {
    if (list.distances[i] < 0.0) return i;
  }
  return -1;
}

/// The weights of a list's neighbours, which depend on all of its distances.
class NeighborWeights {
 public:
  template <class Row>
  STOPE_HD NeighborWeights(VoteRule rule, const NeighborView<Row>& list) {
    if (rule == VoteRule::given) kind_ = Kind::given;
    if (rule != VoteRule::inverse_distance) return;
    kind_ = Kind::inverse;
    for (std::int64_t i = 0; i < list.n; ++i) {
      const double distance = list.distances[i];
      // Neighbours at distance zero share all the weight: 1/d would make their weights infinite.
      if (distance == 0.0) kind_ = Kind::at_zero;
      // 1/d overflows for subnormal distances: those neighbours then share the weight, as those at zero do.
      if (kind_ == Kind::inverse && inverse(distance) == kInfinity) kind_ = Kind::overflowing;
    }
  }

  /// The weight of the list's neighbour i.
  template <class Row>
  STOPE_HD double of(const NeighborView<Row>& list, std::int64_t i) const {
    if (kind_ == Kind::given) return list.weights[i];
    const double distance = list.distances[i];
    switch (kind_) {
      case Kind::one: return 1.0;
      case Kind::inverse: return inverse(distance);
      case Kind::at_zero: return distance == 0.0 ? 1.0 : 0.0;
      case Kind::overflowing: return inverse(distance) == kInfinity ? 1.0 : 0.0;
      case Kind::given: break;
    }
    return 0.0;
  }

 private:
  enum class Kind { one, inverse, at_zero, overflowing, given };

  // A neighbour at a NaN distance (nothing in common) has no weight, as at an infinite distance.
  STOPE_HD static double inverse(double distance) { return is_missing(distance) ? 0.0 : 1.0 / distance; }

  Kind kind_ = Kind::one;
};

/// RapidMiner's weighted vote: (1 - d/T) / S, where T is the sum of the distances. S = k - 1 makes the weights of k
/// neighbours add up to 1. The parts are kept because classification and regression multiply in different order.
class RapidMinerShares {
 public:
  template <class Row>
  STOPE_HD explicit RapidMinerShares(const NeighborView<Row>& list)
      : divisor_(larger(static_cast<double>(list.k) - 1.0, 1.0)) {
    for (std::int64_t i = 0; i < list.n; ++i) total_ += list.distances[i];
    if (total_ != 0.0) return;
    total_ = 1.0;
    divisor_ = static_cast<double>(list.k);
  }
  STOPE_HD double share(double distance) const { return 1.0 - distance / total_; }
  STOPE_HD double divisor() const { return divisor_; }

 private:
  double total_ = 0.0, divisor_;
};

/// Returns the first class of strictly greatest confidence. NaN never wins; -1 (kMissingCode) if all are NaN. `Values`
/// is indexed by class.
template <class Values>
STOPE_HD std::int32_t winning_class(const Values& confidences, std::int64_t n_classes) {
  std::int32_t best = -1;
  double highest = -kInfinity;
  for (std::int64_t c = 0; c < n_classes; ++c) {
    const double confidence = confidences[c];
    if (!(confidence > highest)) continue;
    highest = confidence;
    best = static_cast<std::int32_t>(c);
  }
  return best;
}

/// Adds up the confidences of the classes, which are 0 beforehand, and returns the winner. `Values` is indexed by class
/// and refers to its numbers. Every neighbour must have a weight.
template <class Row, class Values>
STOPE_HD std::int32_t vote_for_class(VoteRule rule, const VoterView& voters, const NeighborView<Row>& list,
                                     const Values& confidences) {
  if (voters.n_classes == 0) return -1;
  if (rule == VoteRule::rapidminer_uniform || rule == VoteRule::rapidminer_shares) {
    const RapidMinerShares shares(list);
    const bool uniform = rule == VoteRule::rapidminer_uniform || list.k == 1;
    for (std::int64_t i = 0; i < list.n; ++i) {
      const double weight =
          uniform ? 1.0 / static_cast<double>(list.k) : shares.share(list.distances[i]) / shares.divisor();
      // RapidMiner reads a missing label as class 0; in the default mode it stands for no class.
      const std::int32_t code = voters.codes[list.rows[i]];
      confidences[code < 0 ? 0 : code] += weight;
    }
  } else {
    const NeighborWeights weights(rule, list);
    double total = 0.0;
    for (std::int64_t i = 0; i < list.n; ++i) {
      const double weight = weights.of(list, i) * voters.sample_weight(list.rows[i]);
      confidences[voters.codes[list.rows[i]]] += weight;
      total += weight;
    }
    // No neighbour, or only neighbours without weight: 0/0 leaves every confidence NaN and the prediction missing.
    for (std::int64_t c = 0; c < voters.n_classes; ++c) confidences[c] /= total;
  }
  for (std::int64_t c = 0; c < voters.n_classes; ++c) confidences[c] = canonical_nan(confidences[c]);
  return winning_class(confidences, voters.n_classes);
}

/// Returns the mean of the neighbours' targets. Every neighbour must have a weight.
template <class Row>
STOPE_HD double vote_for_mean(VoteRule rule, const VoterView& voters, const NeighborView<Row>& list) {
  double sum = 0.0;
  if (rule == VoteRule::rapidminer_uniform) {
    for (std::int64_t i = 0; i < list.n; ++i) sum += voters.targets[list.rows[i]];
    return canonical_nan(sum / static_cast<double>(list.k));
  }
  if (rule == VoteRule::rapidminer_shares) {
    // This holds for k = 1 too, where the share is 1 - d/d = 0: a defect of RapidMiner that this mode reproduces.
    const RapidMinerShares shares(list);
    for (std::int64_t i = 0; i < list.n; ++i) {
      sum += voters.targets[list.rows[i]] * shares.share(list.distances[i]) / shares.divisor();
    }
    return canonical_nan(sum);
  }
  const NeighborWeights weights(rule, list);
  double total = 0.0;
  for (std::int64_t i = 0; i < list.n; ++i) {
    const double weight = weights.of(list, i) * voters.sample_weight(list.rows[i]);
    sum += voters.targets[list.rows[i]] * weight;
    total += weight;
  }
  return canonical_nan(sum / total);
}

}  // namespace stope::knn
