// What a k-NN search takes on the CPU and on a GPU, from host memory to host memory, by measured costs: what --device
// auto decides on (device/auto_gpu.hpp). The choice changes no result.
#pragma once

#include <cstdint>

#include "device/backend.hpp"
#include "knn/engine/searcher.hpp"
#include "knn/fitted.hpp"

namespace stope::knn {

/// A search as far as its time depends on it.
struct SearchSize {
  std::int64_t n_rows = 0;
  std::int64_t n_queries = 0;
  std::int64_t width = 0;           ///< attributes
  std::int64_t terms_per_pair = 0;  ///< of the formula
  bool logarithms = false;          ///< whether a term has one, or what takes as long
  bool squares = false;             ///< whether the measure adds up squares
  bool filtered = false;            ///< on the CPU
  bool filtered_on_gpu = false;     ///< by products
  bool differences_on_gpu = false;  ///< by sums of differences
  bool loaded = false;              ///< the table and its images are on the GPU
};

/// Seconds on the CPU, and on a GPU whose driver has started.
double cpu_seconds(const SearchSize& size, device::Backend backend, int threads);
double gpu_seconds(const SearchSize& size);

/// The size of a search of so many queries, `cpu` being what the CPU would do it with.
SearchSize size_of(const Fitted& fitted, const Selection& selection, std::int64_t n_queries, device::Backend cpu);

/// The back end of a search under --device auto: the first GPU where that pays, else the best of the CPU.
device::BackendChoice choose_automatically(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                           const RunOptions& run);

}  // namespace stope::knn
