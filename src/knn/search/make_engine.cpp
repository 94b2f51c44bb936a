#include "knn/engine/searcher.hpp"

#include <string>

#include "knn/gpu/call.hpp"
#include "knn/gpu/differences/difference_filter.hpp"
#include "knn/gpu/tensor/parts.hpp"
#include "knn/gpu/tensor/tensor_filter.hpp"
#include "knn/search/auto_device.hpp"
#include "stope/error.hpp"

namespace stope::knn {

namespace {

// The choice, unless there is no kernel for the measure.
device::BackendChoice with_kernel(const Fitted& fitted, device::BackendChoice choice) {
  if (choice.backend != device::Backend::cuda) return choice;
  const MeasureBytes image = fitted.kernel().bytes();
  if (cuda_functions().has_measure(image.type, image.n_bytes)) return choice;
  return device::choose_cpu_backend("the CUDA plug-in has no kernel for " + std::string(fitted.measure().info.name));
}

}  // namespace

device::BackendChoice backend_for(const Fitted& fitted, const RunOptions& run) {
  return with_kernel(fitted, device::choose_backend(run));
}

device::BackendChoice backend_for(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                  const RunOptions& run) {
  return with_kernel(fitted, device::is_automatic(run) ? choose_automatically(fitted, selection, n_queries, run)
                                                       : device::choose_backend(run));
}

std::unique_ptr<Searcher> make_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run) {
  if (plan.backend.backend == device::Backend::cuda) return make_gpu_reference_searcher(fitted, plan, run);
  const bool filter = plan.method.way == Method::Way::filter;
  return filter ? make_filter_searcher(fitted, plan, run) : make_reference_searcher(fitted, plan, run);
}

void copy_lists(const Lists& lists, const Selection& selection, std::int64_t first, Neighbors& out) {
  const auto k = static_cast<std::size_t>(selection.ks.front());
  auto at = static_cast<std::size_t>(first) * k;
  for (const std::vector<Neighbor>& list : lists) {
    if (list.size() != k && selection.train_groups == nullptr) {
      throw Error(ErrorCode::internal, "a list is not full");
    }
    for (std::size_t i = 0; i < k; ++i, ++at) {
      out.indices[at] = i < list.size() ? list[i].row : kNoNeighbor;
      out.distances[at] = i < list.size() ? list[i].distance : 0.0;
    }
  }
}

void drop_empty_entries(Neighbors& neighbors) {
  std::size_t kept = 0, at = 0;
  for (std::size_t i = 1; i < neighbors.offsets.size(); ++i) {
    for (const auto end = static_cast<std::size_t>(neighbors.offsets[i]); at < end; ++at) {
      if (neighbors.indices[at] == kNoNeighbor) continue;
      neighbors.indices[kept] = neighbors.indices[at];
      neighbors.distances[kept++] = neighbors.distances[at];
    }
    neighbors.offsets[i] = static_cast<std::int64_t>(kept);
  }
  neighbors.indices.resize(kept);
  neighbors.distances.resize(kept);
}

std::optional<ImageNeed> SearchPipeline::finish_kept(int, Outcome&) {
  throw Error(ErrorCode::internal, "lists that are not kept");
}

std::unique_ptr<SearchPipeline> make_pipeline(const Fitted& fitted, const Plan& plan, const Selection& selection,
                                              std::int64_t n_queries, const RunOptions& run) {
  const bool filter = plan.method.way == Method::Way::filter;
  if (plan.backend.backend != device::Backend::cuda || !filter) return nullptr;
  if (plan.method.kind != ScanKind::products) {
    return make_difference_filter(fitted, plan, selection, n_queries, run);
  }
  return plan.method.in_parts ? make_tensor_filter_parts(fitted, plan, selection, n_queries, run)
                              : make_tensor_filter(fitted, plan, selection, n_queries, run);
}

}  // namespace stope::knn
