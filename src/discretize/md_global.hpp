// The global method: one list of cuts for the whole table. Each cut separates the most pairs of rows of different
// classes that no earlier one separates.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/problem.hpp"
#include "discretize/score.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

struct GlobalCut {
  std::int64_t attribute = 0;
  double cut = 0.0;        ///< if the attribute is numeric
  std::int32_t value = 0;  ///< if it is symbolic: the code
  Int128 pairs = 0;        ///< pairs that no earlier cut separates; with weights, in units of 2^-40
};

/// Returns the cuts in the order in which they are chosen. Ties go to the lowest attribute, then to the lowest cut or
/// code. max_cuts 0: until no pair can be separated. GPUs, if there are any, search the numeric attributes; they must
/// be able to (why_no_global_on_gpu). Throws unsupported beyond 2^31 - 1 rows.
std::vector<GlobalCut> global_cuts(const DecisionProblem& problem, std::int64_t max_cuts, const RunOptions& run,
                                   const std::vector<int>& gpus = {});

}  // namespace stope::discretize
