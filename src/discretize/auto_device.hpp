// When best cuts go to a GPU under --device auto. The choice changes no result.
#pragma once

#include <cmath>
#include <cstdint>

namespace stope::discretize {

// Measured: bench/discretize_gpu.py ("processor" and "call"; 16 threads with AVX-512, an H200), rounded.

/// Seconds that a thread of the processor takes to sort and score the values of columns. Short ones are sorted in
/// registers, several at a time.
inline double cut_seconds(std::int64_t n_rows, std::int64_t n_columns) {
  const double value = n_rows <= 1024 ? 8e-9 : 2e-9 * std::log2(static_cast<double>(n_rows));
  return value * static_cast<double>(n_rows) * static_cast<double>(n_columns);
}

/// Of a GPU: seconds to make its memory, and bytes a second from columns in the host's memory.
inline constexpr double kGpuCallSeconds = 0.015, kGpuCopyRate = 20e9;

inline double gpu_call_seconds(std::int64_t bytes) {
  return kGpuCallSeconds + static_cast<double>(bytes) / kGpuCopyRate;
}

}  // namespace stope::discretize
