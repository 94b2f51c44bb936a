// What --device auto weighs for the gram operator: how long its products take on the CPU, and on a GPU that has the
// matrix or has to get it first. The choice changes no result.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/backend.hpp"

namespace stope::gram {

/// What the time of a product depends on.
struct OperatorSize {
  std::int64_t n_rows = 0, n_columns = 0;
  std::int64_t element_bytes = 4;
  bool started = false;   ///< the GPU was used by this process before
  bool resident = false;  ///< the GPU's memory holds all of it
};

/// Seconds that one pass for n_vectors vectors takes.
double processor_seconds(const OperatorSize& size, device::Backend backend, int threads, std::int64_t n_vectors);
double gpu_seconds(const OperatorSize& size, std::string_view arch, std::int64_t n_vectors);
/// Seconds until a GPU has the matrix: driver, memory, copy.
double gpu_load_seconds(const OperatorSize& size, std::string_view arch);

/// Whether the work saves enough time to copy the matrix to the GPU.
bool gpu_pays(double on_processor, double load, double on_gpu);

/// Seconds. Below that on the CPU it does not pay to ask which GPUs there are, because the driver takes longer.
inline constexpr double kWorthALook = 0.1;

}  // namespace stope::gram
