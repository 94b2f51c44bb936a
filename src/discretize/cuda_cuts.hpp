// The best cuts of numeric attributes on GPUs. Columns come in pieces, which the GPUs share.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/best_cut.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

/// Returns why a GPU cannot look for the cuts, or null if it can.
const char* why_not_on_gpu(const DecisionProblem& problem, Criterion criterion, std::int64_t n_permutations);

/// Fills in the best cuts of numeric attributes. Returns those it leaves open: symbolic ones, and those whose values
/// take too many bits. `gpu_seconds`: how long the GPUs worked, added up. Throws device_lost, device_unavailable,
/// out_of_memory, cancelled.
std::vector<std::int64_t> best_cuts_on_gpus(const DecisionProblem& problem, const std::vector<int>& gpus,
                                            const RunOptions& run, std::vector<AttributeBest>& best,
                                            double& gpu_seconds);

}  // namespace stope::discretize
