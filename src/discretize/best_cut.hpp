// The best cut of every attribute of a decision problem, all at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "discretize/problem.hpp"
#include "discretize/score.hpp"
#include "stope/buffer.hpp"
#include "stope/discretize.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

/// What a cut is worth. Discernibility: W (pairs, or with weights units of 2^-40). Other criteria: their gain.
struct Worth {
  Int128 w = 0;
  double gain = 0.0;

  friend bool operator<(const Worth& a, const Worth& b) { return a.w < b.w || (a.w == b.w && a.gain < b.gain); }
};

/// The best cut of an attribute, the lowest of equally good ones. If none is worth more than 0, nothing else in here
/// has a meaning.
struct AttributeBest {
  Worth worth;
  double cut = 0.0;        ///< if the attribute is numeric
  std::int32_t value = 0;  ///< if it is symbolic: the code
  bool found = false;
};

/// Counts the permutations of the labels that give a score as high as the true labels do.
struct PermutationCounts {
  std::vector<std::int64_t> as_good;      ///< for each attribute: permutations in which it scored as high
  std::vector<std::int64_t> any_as_good;  ///< for each attribute: permutations in which some attribute did
};

struct BestCutRun {
  BackendReport report;        ///< all but its seconds
  Buffer<AttributeBest> best;  ///< one per attribute
  PermutationCounts counts;    ///< empty without permutations
  double gpu_seconds = 0.0;    ///< how long the GPUs worked, added up
};

/// n_permutations >= 0. Throws device_unavailable where a GPU was demanded and there is none.
BestCutRun best_cut_of_each(const DecisionProblem& problem, Criterion criterion, std::int64_t n_permutations,
                            std::uint64_t seed, const RunOptions& run);

}  // namespace stope::discretize
