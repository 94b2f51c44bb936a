// Estimates how long the gram operator's products take on the CPU, and on a GPU that has the matrix or has to get it
// first. The costs were measured. --device auto decides by them (device/auto_gpu.hpp); the choice changes no result.
#pragma once

#include <cstdint>

#include "device/backend.hpp"

namespace stope::gram {

/// What the time of a product depends on.
struct OperatorSize {
  std::int64_t n_rows = 0, n_columns = 0;
  std::int64_t element_bytes = 4;
  bool resident = false;  ///< the GPU's memory holds all of it
};

/// Seconds that one pass for all the vectors takes.
double cpu_seconds(const OperatorSize& size, device::Backend backend, int threads, std::int64_t n_vectors);
/// Seconds that a pass for each of the vectors takes.
double gpu_seconds(const OperatorSize& size, std::int64_t n_vectors);
/// Seconds until a GPU whose driver has started has the matrix: memory, copy.
double gpu_load_seconds(const OperatorSize& size);

}  // namespace stope::gram
