// Which implementation grows (tree/grow.hpp).
#include "tree/grow.hpp"

#include "device/backend.hpp"
#include "stope/error.hpp"
#include "tree/grow_cuda.hpp"

namespace stope::tree {

Grown grow(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run) {
  const device::BackendChoice choice = device::choose_backend(run);
  if (choice.backend != device::Backend::cuda) return grow_cpu(problem, options, run);
  if (const char* why_not = why_not_on_gpu(problem, options)) {
    throw Error(ErrorCode::unsupported, std::string(why_not) + ": --device auto or cpu");
  }
  return grow_cuda(problem, options, run, choice.gpus.front());
}

}  // namespace stope::tree
