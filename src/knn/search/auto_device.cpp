#include "knn/search/auto_device.hpp"

#include <algorithm>
#include <limits>

#include "base/threads_for.hpp"
#include "device/auto_gpu.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/gpu/differences/difference_filter.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/gpu/tensor/tensor_filter.hpp"

namespace stope::knn {
namespace {

// Measured by bench/knn_device.py (bench/results/knn_device_*.json), rounded. A case that was not measured has the
// numbers of the most similar one.

constexpr double kNano = 1e-9;

/// Seconds of one thread for an image column of a pair.
struct ScanCost {
  double square_term, other_term, nibble_term;
};
constexpr ScanCost scan_cost(device::Backend backend) {
  switch (backend) {
    case device::Backend::avx512vnni: return {0.015 * kNano, 0.03 * kNano, 0.01 * kNano};
    case device::Backend::avx512: return {0.03 * kNano, 0.03 * kNano, 0.015 * kNano};
    case device::Backend::avx2: return {0.05 * kNano, 0.05 * kNano, 0.02 * kNano};
    case device::Backend::scalar: return {0.15 * kNano, 0.15 * kNano, 0.15 * kNano};
    default: return {1.5 * kNano, 1.5 * kNano, 1.5 * kNano};
  }
}
constexpr double kThread = 0.15e-3;           // to start a thread
constexpr double kFilteredQuery = 27e-6;      // lists, and the distances that a filter leaves
constexpr double kBoxedQuery = 1.5e-6;        // the same where rows of few columns stand in blocks of values
constexpr double kReadByte = 0.05 * kNano;    // of a row's image, from memory
constexpr double kImageColumn = 5.0 * kNano;  // to make it
constexpr double kExactTerm = 1.5 * kNano, kExactLogarithm = 20.0 * kNano;
constexpr std::int64_t kLeastFiltered = 8;  // fewer queries are searched without a filter, by one thread

/// Seconds of a GPU. Measured on sm_90; every other architecture counts as that one.
struct GpuCost {
  double first;            ///< memory for a table
  double value;            ///< per value of a table: copying it and making its image
  double search;           ///< a search of almost nothing
  double filtered_pair;    ///< per pair, on the matrix units
  double difference_term;  ///< per attribute of a pair, without matrix units
  double exact_term, exact_logarithm;
};
constexpr GpuCost kGpu = {.first = 0.014,
                          .value = 0.35 * kNano,
                          .search = 0.2e-3,
                          .filtered_pair = 0.0005 * kNano,
                          .difference_term = 0.0002 * kNano,
                          .exact_term = 0.005 * kNano,
                          .exact_logarithm = 0.02 * kNano};

double exact_pair(std::int64_t terms, bool logarithms) {
  return static_cast<double>(terms) * (logarithms ? kExactLogarithm : kExactTerm);
}

// Bytes of an image per column.
double column_bytes(ScanKind kind) {
  if (kind == ScanKind::nibble_products) return 0.5;
  return in_bytes(kind) ? 1.0 : 4.0;
}

// A term of a scan. Few queries share each image that they read.
double scan_term(device::Backend backend, ScanKind kind, bool squares, double n_queries) {
  const ScanCost cost = scan_cost(backend);
  const double term = kind == ScanKind::nibble_products ? cost.nibble_term
                      : squares                         ? cost.square_term
                                                        : cost.other_term;
  return std::max(term, column_bytes(kind) * kReadByte / std::max(n_queries, 1.0));
}

}  // namespace

double cpu_work(const Fitted& fitted, const Method& method, std::int64_t n_queries, device::Backend backend) {
  if (properties(method.engine).on_gpu) return std::numeric_limits<double>::infinity();
  const auto queries = static_cast<double>(n_queries), rows = static_cast<double>(fitted.n_rows());
  const double exact = exact_pair(fitted.kernel().terms_per_pair(), fitted.kernel().uses_logarithms());
  if (method.engine == Engine::cpu_reference) return queries * rows * exact;
  const auto width = static_cast<double>(fitted.width());
  const SearchHistory::Work before = fitted.history().work(method.order);
  const bool first = before.compared < 0.0;
  const double term = scan_term(backend, method.kind, in_squares(fitted.kernel().filter_form()->term), queries);
  return (first ? rows * width * kImageColumn : 0.0) +
         queries * ((method.values && !first ? kBoxedQuery : kFilteredQuery) +
                    (first ? rows : before.compared) * width * term + before.evaluated * exact);
}

double cpu_seconds(const SearchSize& size, device::Backend backend, int threads) {
  const auto queries = static_cast<double>(size.n_queries);
  const double pairs = queries * static_cast<double>(size.n_rows);
  const bool few = size.n_queries < kLeastFiltered;
  const double work = !size.filtered || few ? pairs * exact_pair(size.terms_per_pair, size.logarithms)
                                            : queries * kFilteredQuery +
                                                  pairs * static_cast<double>(size.width) *
                                                      scan_term(backend, ScanKind::differences, size.squares, queries);
  const int started = threads_for(work, threads);
  return kThread * started + work / (few ? 1 : started);
}

double gpu_seconds(const SearchSize& size) {
  const double pairs = static_cast<double>(size.n_queries) * static_cast<double>(size.n_rows);
  double seconds = kGpu.search;
  if (!size.loaded) {
    seconds += kGpu.first + static_cast<double>(size.n_rows) * static_cast<double>(size.width) * kGpu.value;
  }
  if (size.filtered_on_gpu) return seconds + pairs * kGpu.filtered_pair;
  if (size.differences_on_gpu) return seconds + pairs * static_cast<double>(size.width) * kGpu.difference_term;
  return seconds +
         pairs * static_cast<double>(size.terms_per_pair) * (size.logarithms ? kGpu.exact_logarithm : kGpu.exact_term);
}

SearchSize size_of(const Fitted& fitted, const Selection& selection, std::int64_t n_queries, device::Backend cpu) {
  const FilterForm* form = fitted.kernel().filter_form();
  return {.n_rows = fitted.n_rows(),
          .n_queries = n_queries,
          .width = fitted.width(),
          .terms_per_pair = fitted.kernel().terms_per_pair(),
          .logarithms = fitted.kernel().uses_logarithms(),
          .squares = form != nullptr && in_squares(form->term),
          .filtered = form != nullptr && cpu != device::Backend::reference,
          .filtered_on_gpu = tensor_filter_takes(fitted, selection),
          .differences_on_gpu = difference_filter_takes(fitted, selection)};
}

device::BackendChoice choose_automatically(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                           const RunOptions& run) {
  const device::BackendChoice cpu = device::choose_cpu_backend("");
  const int threads = run.threads > 0 ? run.threads : available_threads();
  // Queries are counted over the life of a fitted table: a table copied for one search serves the next.
  SearchSize size = size_of(fitted, selection, n_queries + fitted.history().n_queries(), cpu.backend);
  const device::Offer at_the_least = {cpu_seconds(size, cpu.backend, threads), 0.0};
  const auto on = [&](const GpuInfo& gpu) -> device::Offer {
    size.loaded = size.filtered_on_gpu && fitted.gpu_filters().has_tensor_filter(gpu.index);
    if (size.loaded) size.n_queries = n_queries;  // with the table there, each search is weighed alone
    return {cpu_seconds(size, cpu.backend, threads), gpu_seconds(size)};
  };
  return choice_of(device::decide(at_the_least, on), cpu);
}

}  // namespace stope::knn
