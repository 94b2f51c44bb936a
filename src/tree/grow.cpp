// Which implementation grows (tree/grow.hpp).
#include "tree/grow.hpp"

#include "device/backend.hpp"
#include "stope/error.hpp"
#include "tree/grow_cuda.hpp"

namespace stope::tree {

Grown grow(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run) {
  const device::BackendChoice choice = device::choose_backend(run);
  if (choice.backend != device::Backend::cuda) {
    Grown grown = grow_cpu(problem, options, run);
    grown.report.backend = choice.name;
    grown.report.reason = choice.reason;
    return grown;
  }
  if (const char* why_not = why_not_on_gpu(problem, options)) {
    throw Error(ErrorCode::unsupported, std::string(why_not) + ": --device auto or cpu");
  }
  Grown grown = grow_cuda(problem, options, run, choice.gpus);
  grown.report.backend = choice.name;
  grown.report.reason = choice.reason;
  return grown;
}

}  // namespace stope::tree
