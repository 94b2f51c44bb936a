// The global method: one list of cuts for the whole table, each the one that separates most of the pairs of rows of
// different classes that none before it separates.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/problem.hpp"
#include "discretize/score.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

struct GlobalCut {
  std::int64_t attribute = 0;
  double cut = 0.0;        ///< of a numeric attribute
  std::int32_t value = 0;  ///< of a symbolic one
  Int128 pairs = 0;        ///< that it separates first; of weights in units of 2^-40
};

/// In the order of choice; ties: the lowest attribute, the lowest cut or code. max_cuts 0: until no pair can be
/// separated. Throws unsupported beyond 2^31 - 1 rows.
std::vector<GlobalCut> global_cuts(const DecisionProblem& problem, std::int64_t max_cuts, const RunOptions& run);

}  // namespace stope::discretize
