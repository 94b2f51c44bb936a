// Counts how often permuted labels give an attribute as good a cut as the true ones do, for p-values.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/best_cut.hpp"
#include "discretize/column_network.hpp"
#include "discretize/cuda_cuts.hpp"
#include "discretize/permuted_labels.hpp"
#include "discretize/scorer.hpp"

namespace stope::discretize {

/// Permutations come in rounds, as many as memory allows at a time. Every attribute is tried once per round.
class PermutationTest {
 public:
  /// Throws out_of_memory where the run's limit has no room for a number a permutation: before any work, and before a
  /// GPU's.
  static void require_room(std::int64_t n_permutations, const RunOptions& run);

  /// `kernels` may be null. Everything must outlive the test. There must be room (require_room).
  PermutationTest(const DecisionProblem& problem, const Scorer& scorer, const NetworkKernels* kernels,
                  std::int64_t n_permutations, std::uint64_t seed, std::int64_t n_threads, const RunOptions& run);

  /// What one thread has found in this round.
  struct Tally {
    std::vector<std::int64_t> as_good;  ///< for each attribute, over all rounds
    std::vector<Worth> highest;         ///< for each permutation of the round, over this thread's attributes
  };
  Tally make_tally() const;

  /// Draws the next round's labels. Returns false when all are done.
  bool next_round();
  /// Permutations of this round.
  std::int64_t in_round() const { return in_round_; }

  /// Tries all permutations of the round on an attribute whose best cut is worth `observed`.
  void numeric(std::int64_t attribute, const Worth& observed, const OrderedColumn& column, Tally& tally) const;
  void symbolic(std::int64_t index, const Worth& observed, const Attribute& attribute, Tally& tally) const;

  /// Call it after a round, once for every thread.
  void collect(Tally& tally);
  /// Adds what GPUs have found of other attributes, under all permutations.
  void add(const GpuPermutations& found);
  /// Ends the test.
  PermutationCounts counts(const Buffer<AttributeBest>& best) &&;

 private:
  Labels labels(std::int64_t permutation) const;
  static void note(std::int64_t attribute, std::int64_t permutation, const Worth& observed, const Worth& found,
                   Tally& tally);

  const DecisionProblem& problem_;
  const Scorer& scorer_;
  const NetworkKernels* kernels_;
  std::int64_t n_permutations_, n_done_ = 0, in_round_ = 0;
  std::int64_t most_in_round_;  // permutations that the memory limit has room for
  CancelToken cancel_;
  bool fast_;  // whether many permutations are tried at a time
  LabelShuffler shuffler_;
  std::vector<std::int32_t> classes_;              // for each permutation of the round, row by row
  std::vector<std::vector<std::int64_t>> totals_;  // for each permutation of the round
  std::vector<std::uint8_t> bytes_;                // if fast: for each row, permutation by permutation
  std::int64_t stride_ = 0;
  std::vector<std::int32_t> small_totals_;
  std::vector<std::int64_t> as_good_;
  std::vector<Worth> highest_;  // for each permutation of all rounds
};

}  // namespace stope::discretize
