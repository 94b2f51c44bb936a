// Sets of cuts on GPUs: those of numeric attributes by MDLP.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/problem.hpp"
#include "stope/discretize.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

/// Whether --device auto may take a GPU for sets of cuts. No GPU has measured what they cost, so it does not yet: a GPU
/// finds them where it is named.
inline constexpr bool kAutoTakesSets = false;

/// Returns why a GPU cannot cut by MDLP, or null if it can.
const char* why_no_mdlp_on_gpu(const DecisionProblem& problem);

/// Writes the cuts of numeric attributes. Returns those it leaves open: symbolic ones, and those that have more cuts
/// than a GPU keeps. Throws device_lost, device_unavailable, out_of_memory, cancelled.
std::vector<std::int64_t> mdlp_on_gpus(const DecisionProblem& problem, const std::vector<int>& gpus,
                                       const RunOptions& run, CutSet& cuts);

}  // namespace stope::discretize
