#include "knn/search/auto_device.hpp"

#include <algorithm>
#include <cmath>

#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/gpu/differences/difference_filter.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/gpu/tensor/tensor_filter.hpp"

namespace stope::knn {
namespace {

// Measured by bench/knn_device.py (bench/results/knn_device_*.json), rounded; what was not measured has the numbers of
// what is most like it.

/// Seconds of one thread.
struct ProcessorCost {
  device::Backend backend;
  double square_term, other_term;  // of an image column of a pair: of squares, of anything else
};
constexpr double kNano = 1e-9;
constexpr ProcessorCost kProcessors[] = {
    {device::Backend::avx512vnni, 0.015 * kNano, 0.03 * kNano}, {device::Backend::avx512, 0.03 * kNano, 0.03 * kNano},
    {device::Backend::avx2, 0.05 * kNano, 0.05 * kNano},        {device::Backend::scalar, 0.15 * kNano, 0.15 * kNano},
    {device::Backend::reference, 1.5 * kNano, 1.5 * kNano},
};
constexpr double kThread = 0.15e-3;       // to start one
constexpr double kFilteredQuery = 27e-6;  // lists, and the distances of what a filter leaves
constexpr double kExactTerm = 1.5 * kNano, kExactLogarithm = 20.0 * kNano;
constexpr std::int64_t kLeastFiltered = 8;  // fewer queries are searched without a filter, by one thread

/// Seconds of a GPU.
struct GpuCost {
  std::string_view arch;
  double start;            // the driver, in a process that has not used the GPU
  double first;            // memory for a table
  double value;            // of a table: copied and made an image
  double search;           // a search of next to nothing
  double filtered_pair;    // on the matrix units
  double difference_term;  // of an attribute of a pair, without them
  double exact_term, exact_logarithm;
};
constexpr GpuCost kGpus[] = {
    {"sm_90", device::kDriverSeconds, 0.014, 0.35 * kNano, 0.2e-3, 0.0005 * kNano, 0.0002 * kNano, 0.005 * kNano,
     0.02 * kNano},
};

// Shorter searches are not worth a look at what GPUs there are, which takes the driver longer.
constexpr double kWorthALook = 0.1;

std::string text(double seconds) {
  const double milliseconds = 1e3 * seconds;
  const auto rounded = std::llround(milliseconds);
  return milliseconds < 1.0 ? "under 1 ms"
         : rounded < 10'000 ? std::to_string(rounded) + " ms"
                            : std::to_string(rounded / 1000) + " s";
}

}  // namespace

double processor_seconds(const SearchSize& size, device::Backend backend, int threads) {
  const double queries = static_cast<double>(size.n_queries);
  const double pairs = queries * static_cast<double>(size.n_rows);
  if (!size.filtered || size.n_queries < kLeastFiltered) {
    const double term = size.logarithms ? kExactLogarithm : kExactTerm;
    return kThread * threads +
           pairs * static_cast<double>(size.terms_per_pair) * term / (size.n_queries < kLeastFiltered ? 1 : threads);
  }
  const auto* const cost = std::find_if(std::begin(kProcessors), std::end(kProcessors) - 1,
                                        [&](const ProcessorCost& row) { return row.backend == backend; });
  const double term = size.squares ? cost->square_term : cost->other_term;
  return kThread * threads + (queries * kFilteredQuery + pairs * static_cast<double>(size.width) * term) / threads;
}

double gpu_seconds(const SearchSize& size, std::string_view arch) {
  const auto* const cost =
      std::find_if(std::begin(kGpus), std::end(kGpus) - 1, [&](const GpuCost& row) { return row.arch == arch; });
  const double pairs = static_cast<double>(size.n_queries) * static_cast<double>(size.n_rows);
  double seconds = cost->search;
  if (!size.started) seconds += cost->start;
  if (!size.loaded) {
    seconds += cost->first + static_cast<double>(size.n_rows) * static_cast<double>(size.width) * cost->value;
  }
  if (size.filtered_on_gpu) return seconds + pairs * cost->filtered_pair;
  if (size.differences_on_gpu) return seconds + pairs * static_cast<double>(size.width) * cost->difference_term;
  return seconds + pairs * static_cast<double>(size.terms_per_pair) *
                       (size.logarithms ? cost->exact_logarithm : cost->exact_term);
}

device::BackendChoice choose_automatically(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                           const RunOptions& run) {
  device::BackendChoice processor = device::choose_cpu_backend("");
  const FilterForm* form = fitted.kernel().filter_form();
  // Queries are counted over the life of a fitted table: what is copied for one search serves the next.
  SearchSize size{.n_rows = fitted.n_rows(),
                  .n_queries = n_queries + fitted.history().n_queries(),
                  .width = fitted.width(),
                  .terms_per_pair = fitted.kernel().terms_per_pair(),
                  .logarithms = fitted.measure().domain != Domain::any,
                  .squares = form != nullptr && form->term == Term::square,
                  .filtered = form != nullptr && processor.backend != device::Backend::reference,
                  .filtered_on_gpu = tensor_filter_takes(fitted, selection),
                  .differences_on_gpu = difference_filter_takes(fitted, selection)};
  const int threads = run.threads > 0 ? run.threads : available_threads();
  const double here = processor_seconds(size, processor.backend, threads);
  if (here < kWorthALook && !device::cuda_was_used()) return processor;
  if (device::cuda().functions == nullptr) return processor;
  RunOptions on_gpu = run;
  on_gpu.device = "cuda";
  device::BackendChoice choice = device::choose_backend(on_gpu);
  const GpuInfo& gpu = device::cuda().gpus[static_cast<std::size_t>(choice.gpus.front())];
  size.started = device::cuda_was_used();
  size.loaded = size.filtered_on_gpu && fitted.gpu_filters().has_tensor_filter(gpu.index);
  // With the table there every search is weighed for itself.
  if (size.loaded) size.n_queries = n_queries;
  const double on_processor = size.loaded ? processor_seconds(size, processor.backend, threads) : here;
  const double there = gpu_seconds(size, gpu.arch);
  const std::string times = "auto: about " + text(on_processor) + " on the processor, " + text(there) + " on the GPU";
  if (there * device::kGpuMargin >= on_processor) {
    processor.reason = times;
    return processor;
  }
  choice.automatic = true;
  choice.reason = times + ": " + gpu.name + ", " + gpu.arch;
  return choice;
}

}  // namespace stope::knn
