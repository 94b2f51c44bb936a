// Permutations of the labels as GPUs take them: a byte per row, in rounds that memory allows.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/permuted_labels.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/problem.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

/// Draws the permutations that LabelShuffler draws, of the classes that have rows.
class PermutedClasses {
 public:
  /// A round takes about `round_bytes`, or what few permutations take. `problem` must outlive this object.
  PermutedClasses(const DecisionProblem& problem, const PresentClasses& classes, std::int64_t n_permutations,
                  std::uint64_t seed, std::int64_t round_bytes, const CancelToken& cancel);

  /// Draws the next round.
  void next();
  /// Permutations of this round, and those of rounds to come.
  std::int64_t in_round() const { return in_round_; }
  std::int64_t left() const { return left_; }
  /// [permutation of the round][row].
  const std::uint8_t* data() const { return bytes_.data(); }

 private:
  const std::int64_t n_rows_;
  std::int64_t left_, most_, in_round_ = 0;
  CancelToken cancel_;
  std::vector<std::uint8_t> number_;  // of each class of the problem among those that have rows
  LabelShuffler shuffler_;
  std::vector<std::int32_t> labels_;
  std::vector<std::int64_t> totals_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace stope::discretize
