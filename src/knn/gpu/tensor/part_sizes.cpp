// Plans parts of a training table for GPUs: how long they are, and how many queries are searched at once.
#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "knn/gpu/reference/plan.hpp"
#include "knn/gpu/tensor/parts.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;

// Shorter parts take longer to start than to search.
constexpr std::int64_t kLeastPartRows = std::int64_t{1} << 14;
// Least queries of a batch: fewer would leave a GPU waiting.
constexpr std::int64_t kLeastBatch = 1024;
// A search of fewer queries leaves room for some more.
constexpr std::int64_t kFewQueries = 2048;

std::int64_t filter_bytes(int gpu, const TensorFilterSpec& spec) {
  cuda_abi::FilterSize size{};
  checked_call([&](Failure* failure) { return cuda_functions().tensor_size(gpu, &spec.spec, &size, failure); });
  return size.possible ? size.bytes : std::numeric_limits<std::int64_t>::max();
}

// Returns the most rows of a part that fits all GPUs, where all parts have one length; 0 if that is too few.
std::int64_t most_part_rows(const Fitted& fitted, const ImageMap& map, std::int64_t k, std::int64_t n_queries,
                            const device::BackendChoice& backend, const RunOptions& run, PartSizes sizes) {
  const auto n_gpus = static_cast<std::int64_t>(backend.gpus.size());
  std::int64_t most = checked::ceil_div(fitted.n_rows(), n_gpus);
  const std::int64_t wanted = environment::count(environment::Variable::device_rows);
  if (wanted > 0) most = std::min(most, wanted);
  TensorFilterSpec spec = parts_spec(fitted, map, k, n_queries, sizes);
  for (const int gpu : backend.gpus) {
    std::int64_t free = 0;
    checked_call([&](Failure* failure) { return device::plugin().free_memory(gpu, &free, failure); });
    const std::int64_t sharers = std::count(backend.gpus.begin(), backend.gpus.end(), gpu);
    const std::int64_t budget = gpu_budget(free, run.memory_limit) / sharers;
    const auto fit = [&](std::int64_t rows) {
      spec.spec.n_rows = rows;
      return filter_bytes(gpu, spec) <= budget;
    };
    std::int64_t fits = 0;
    for (std::int64_t step = most; step > 0; step = step / 2) {
      while (fits + step <= most && fit(fits + step)) fits += step;
    }
    most = fits;
  }
  if (wanted == 0 && most < std::min(kLeastPartRows, checked::ceil_div(fitted.n_rows(), n_gpus))) return 0;
  if (most < 1) return 0;
  const std::int64_t n_parts = checked::ceil_div(fitted.n_rows(), most);
  return checked::ceil_div(fitted.n_rows(), n_parts);
}

}  // namespace

TensorFilterSpec parts_spec(const Fitted& fitted, const ImageMap& map, std::int64_t k, std::int64_t n_queries,
                            const PartSizes& sizes) {
  TensorFilterSpec spec(fitted, map, sizes.element, sizes.rows, n_queries, k);
  spec.hold_parts(kHeldParts, sizes.batch, sizes.lists);
  return spec;
}

PartSizes plan_part_sizes(const Fitted& fitted, const ImageMap& map, std::int64_t k, std::int64_t n_queries,
                          const device::BackendChoice& backend, const RunOptions& run) {
  // The fixed cost of a batch, some 50 us, counted in pairs.
  constexpr double kStart = 2.5e8;
  const std::int64_t queries = std::max<std::int64_t>(n_queries, 1);
  const ImageElement element = choose_image_element(fitted, map, backend);
  PartSizes best;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t batch = std::clamp(queries, kFewQueries, most_filter_queries(k));;
       batch = checked::ceil_div(batch, 2)) {
    for (const ListRoom lists : {ListRoom::usual, ListRoom::short_ones}) {
      PartSizes sizes{0, batch, lists, element};
      sizes.rows = most_part_rows(fitted, map, k, n_queries, backend, run, sizes);
      if (sizes.rows == 0) continue;
      // With short lists the first part needs a larger sample.
      const double pairs = static_cast<double>(fitted.n_rows()) * static_cast<double>(queries);
      const double n_parts = static_cast<double>(checked::ceil_div(fitted.n_rows(), sizes.rows));
      const double cost = n_parts * static_cast<double>(checked::ceil_div(queries, batch)) * kStart +
                          (lists == ListRoom::short_ones ? pairs / n_parts : 0.0);
      if (cost >= least) continue;
      least = cost;
      best = sizes;
    }
    if (batch <= kLeastBatch) break;
  }
  return best;
}

}  // namespace stope::knn
