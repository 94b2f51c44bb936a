#include "knn/searcher.hpp"

#include "stope/error.hpp"

namespace stope::knn {

std::unique_ptr<Searcher> make_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run) {
  if (plan.backend.backend == device::Backend::cuda) {
    throw Error(ErrorCode::device_unavailable,
                "the back end '" + plan.backend.name + "' has no nearest-neighbour search");
  }
  return plan.method.way == Method::Way::filter ? make_filter_searcher(fitted, plan, run)
                                                : make_reference_searcher(fitted, plan, run);
}

}  // namespace stope::knn
