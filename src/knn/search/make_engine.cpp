#include "knn/search/make_engine.hpp"

#include <string>

#include "device/auto_gpu.hpp"
#include "knn/engine/reference.hpp"
#include "knn/filter/filter_searcher.hpp"
#include "knn/gpu/call.hpp"
#include "knn/gpu/differences/difference_filter.hpp"
#include "knn/gpu/reference/searcher.hpp"
#include "knn/gpu/tensor/parts.hpp"
#include "knn/gpu/tensor/tensor_filter.hpp"
#include "knn/search/auto_device.hpp"
#include "stope/error.hpp"

namespace stope::knn {

namespace {

// Falls back to the CPU where the GPU has no kernel for the measure.
device::BackendChoice with_kernel(const Fitted& fitted, device::BackendChoice choice, const RunOptions& run) {
  if (choice.backend != device::Backend::cuda) return choice;
  const MeasureBytes image = fitted.kernel().bytes();
  if (cuda_functions().has_measure(image.type, image.n_bytes)) return choice;
  const std::string why = "the CUDA plug-in has no kernel for " + std::string(fitted.measure().info.name);
  if (!choice.automatic) return device::choose_cpu_backend(why);
  device::BackendChoice cpu = device::choose_cpu_backend("");
  cpu.device_reason = device::auto_reason(run, why);
  return cpu;
}

}  // namespace

device::BackendChoice backend_for(const Fitted& fitted, const RunOptions& run) {
  device::BackendChoice choice = with_kernel(fitted, device::choose_backend(run), run);
  choice.device_reason = device::auto_reason(run, "matrices of distances go to a GPU only where the device is named");
  return choice;
}

device::BackendChoice backend_for(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                  const RunOptions& run) {
  return with_kernel(
      fitted,
      device::is_automatic(run) ? choose_automatically(fitted, selection, n_queries, run) : device::choose_backend(run),
      run);
}

std::unique_ptr<Searcher> make_searcher(const Fitted& fitted, const Plan& plan, ThreadPool& pool,
                                        const RunOptions& run) {
  switch (plan.method.engine) {
    case Engine::cpu_reference: return make_reference_searcher(fitted, plan, pool, run);
    case Engine::cpu_filter: return make_filter_searcher(fitted, plan, pool, run);
    case Engine::gpu_reference: return make_gpu_reference_searcher(fitted, plan, run);
    case Engine::difference_filter:
    case Engine::box_search:
    case Engine::tensor_filter:
    case Engine::tensor_filter_parts: break;
  }
  throw Error(ErrorCode::internal, "a pipelined engine is not a searcher");
}

std::unique_ptr<SearchPipeline> make_pipeline(const Fitted& fitted, const Plan& plan, const Selection& selection,
                                              std::int64_t n_queries, const RunOptions& run) {
  switch (plan.method.engine) {
    case Engine::difference_filter:
    case Engine::box_search: return make_difference_filter(fitted, plan, selection, n_queries, run);
    case Engine::tensor_filter: return make_tensor_filter(fitted, plan, selection, n_queries, run);
    case Engine::tensor_filter_parts: return make_tensor_filter_parts(fitted, plan, selection, n_queries, run);
    case Engine::cpu_reference:
    case Engine::cpu_filter:
    case Engine::gpu_reference: break;
  }
  throw Error(ErrorCode::internal, "a searcher is not a pipelined engine");
}

std::unique_ptr<DistanceMatrix> make_matrix(const Fitted& fitted, const Plan& plan, const RunOptions& run) {
  if (properties(plan.method.engine).filters) throw Error(ErrorCode::internal, "a filter computes no matrix");
  return properties(plan.method.engine).on_gpu ? make_gpu_reference_matrix(fitted, plan, run)
                                               : make_reference_matrix(fitted, plan, run);
}

}  // namespace stope::knn
