// What the gram operator's products take on the CPU, and on a GPU that has the matrix or has to get it first, by
// measured costs: what --device auto decides on (device/auto_gpu.hpp). The choice changes no result.
#pragma once

#include <cstdint>

#include "device/backend.hpp"

namespace stope::gram {

/// A matrix as far as the time of a product depends on it.
struct OperatorSize {
  std::int64_t n_rows = 0, n_columns = 0;
  std::int64_t element_bytes = 4;
  bool resident = false;  ///< the GPU's memory takes all of it
};

/// Seconds of one pass for so many vectors.
double cpu_seconds(const OperatorSize& size, device::Backend backend, int threads, std::int64_t n_vectors);
/// Seconds of a pass for each of so many vectors.
double gpu_seconds(const OperatorSize& size, std::int64_t n_vectors);
/// Seconds until a GPU whose driver has started has the matrix: memory, copy.
double gpu_load_seconds(const OperatorSize& size);

}  // namespace stope::gram
