// Estimates, by measured costs, how long a k-NN search takes on the CPU and on a GPU, from host memory to host memory.
// --device auto decides by it (device/auto_gpu.hpp). The choice changes no result.
#pragma once

#include <cstdint>

#include "device/backend.hpp"
#include "knn/engine/searcher.hpp"
#include "knn/fitted.hpp"

namespace stope::knn {

/// What the time of a search depends on.
struct SearchSize {
  std::int64_t n_rows = 0;
  std::int64_t n_queries = 0;
  std::int64_t width = 0;           ///< attributes
  std::int64_t terms_per_pair = 0;  ///< terms of the formula per pair
  bool logarithms = false;          ///< whether a term has one, or a function that takes as long
  bool squares = false;             ///< whether the measure adds up squares
  bool filtered = false;            ///< by a filter on the CPU
  bool filtered_on_gpu = false;     ///< by products, on GPUs
  bool differences_on_gpu = false;  ///< by sums of differences, on GPUs
  bool loaded = false;              ///< the table and its images are on the GPU
};

/// Returns the seconds that one thread of the CPU would take for the method's work; infinite for a GPU's engine.
double cpu_work(const Fitted& fitted, const Method& method, std::int64_t n_queries, device::Backend backend);

/// Return the seconds on the CPU, with as many of the threads as the work is worth, and on a GPU whose driver has
/// started.
double cpu_seconds(const SearchSize& size, device::Backend backend, int threads);
double gpu_seconds(const SearchSize& size);

/// Returns the size of a search of n_queries queries; `cpu` is the back end that the CPU would use.
SearchSize size_of(const Fitted& fitted, const Selection& selection, std::int64_t n_queries, device::Backend cpu);

/// Returns the back end of a search under --device auto: the first GPU where that pays, otherwise the CPU's best.
device::BackendChoice choose_automatically(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                           const RunOptions& run);

}  // namespace stope::knn
