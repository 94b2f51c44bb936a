// Growing on GPUs: the core's half.
#pragma once

#include <vector>

#include "tree/grow.hpp"

namespace stope::tree {

/// Returns why a GPU cannot grow the tree, or null if it can.
const char* why_not_on_gpu(const discretize::DecisionProblem& problem);

/// Returns the same nodes as grow_cpu. Several GPUs share the attributes, unless the tree is short (tree/cuda_abi.hpp).
/// Throws device_lost, device_unavailable, out_of_memory, cancelled.
Grown grow_cuda(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run,
                const std::vector<int>& gpus);

}  // namespace stope::tree
