// Which implementation grows (tree/grow.hpp).
#include "tree/grow.hpp"

#include "device/backend.hpp"
#include "stope/error.hpp"

namespace stope::tree {

Grown grow(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run) {
  if (device::choose_backend(run).backend == device::Backend::cuda) {
    throw Error(ErrorCode::device_unavailable, "trees are not grown on GPUs yet: --device auto or cpu");
  }
  return grow_cpu(problem, options, run);
}

}  // namespace stope::tree
