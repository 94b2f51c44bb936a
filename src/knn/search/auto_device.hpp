// What --device auto weighs: how long a k-NN search takes on the processor and on a GPU, from host memory to host
// memory. Printed by --explain. The choice changes no result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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
  bool logarithms = false;          ///< whether a term has one
  bool squares = false;             ///< whether the measure adds up squares
  bool filtered = false;            ///< on the processor
  bool filtered_on_gpu = false;     ///< by products
  bool differences_on_gpu = false;  ///< by sums of differences
  bool started = false;             ///< the GPU was used by this process before
  bool loaded = false;              ///< the table and its images are on the GPU
};

double processor_seconds(const SearchSize& size, device::Backend backend, int threads);
double gpu_seconds(const SearchSize& size, std::string_view arch);

/// The back end of a search under --device auto: the first GPU where that pays, else the processor's best.
device::BackendChoice choose_automatically(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                           const RunOptions& run);

}  // namespace stope::knn
