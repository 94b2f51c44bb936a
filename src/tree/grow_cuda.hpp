// Growing on a GPU: the core's half.
#pragma once

#include "tree/grow.hpp"

namespace stope::tree {

/// Why a GPU cannot grow the tree; null: it can.
const char* why_not_on_gpu(const discretize::DecisionProblem& problem, const GrowOptions& options);

/// The same nodes as grow_cpu. Throws device_lost, device_unavailable, out_of_memory, cancelled.
Grown grow_cuda(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run, int gpu);

}  // namespace stope::tree
