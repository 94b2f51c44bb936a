#include "knn/searcher.hpp"

#include "stope/error.hpp"

namespace stope::knn {

std::unique_ptr<Searcher> make_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run) {
  struct Row {
    device::Backend backend;
    std::unique_ptr<Searcher> (*make)(const Fitted&, const Plan&, const RunOptions&);
  };
  static constexpr Row kSearchers[] = {{device::Backend::reference, make_reference_searcher}};
  for (const Row& row : kSearchers) {
    if (row.backend == plan.backend.backend) return row.make(fitted, plan, run);
  }
  throw Error(ErrorCode::device_unavailable,
              "the back end '" + plan.backend.name + "' has no nearest-neighbour search");
}

}  // namespace stope::knn
