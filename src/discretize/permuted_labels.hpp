// Random permutations of the labels, the same on every machine and back end.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "discretize/problem.hpp"

namespace stope::discretize {

/// Draws one permutation after another. Each shuffles the true labels anew (Fisher and Yates, from the last row down).
/// One generator, started with the seed, serves all of them. Weights stay with their rows.
class LabelShuffler {
 public:
  LabelShuffler(const DecisionProblem& problem, std::uint64_t seed) : problem_(problem), random_(seed) {}

  /// Fills in the next permutation's labels and, if there are weights, its class totals.
  void next(std::int32_t* labels, std::vector<std::int64_t>& totals);

 private:
  const DecisionProblem& problem_;
  Random random_;
};

}  // namespace stope::discretize
