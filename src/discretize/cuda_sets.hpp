// What GPUs find in columns that stay sorted: sets of cuts by MDLP, and best cuts of rows with weights.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/best_cut.hpp"
#include "discretize/problem.hpp"
#include "stope/buffer.hpp"
#include "stope/discretize.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

/// Returns why a GPU cannot cut by MDLP, or null if it can.
const char* why_no_mdlp_on_gpu(const DecisionProblem& problem);

/// Writes the cuts of numeric attributes. Returns those it leaves open: symbolic ones, and those that have more cuts
/// than a GPU keeps. Throws device_lost, device_unavailable, out_of_memory, cancelled.
std::vector<std::int64_t> mdlp_on_gpus(const DecisionProblem& problem, const std::vector<int>& gpus,
                                       const RunOptions& run, CutSet& cuts);

/// Writes the best cuts of numeric attributes of a problem with weights. Returns the symbolic ones. `gpu_seconds`: how
/// long the GPUs searched, added up. Throws the same.
std::vector<std::int64_t> weighted_cuts_on_gpus(const DecisionProblem& problem, Criterion criterion,
                                                const std::vector<int>& gpus, const RunOptions& run,
                                                Buffer<AttributeBest>& best, double& gpu_seconds);

}  // namespace stope::discretize
