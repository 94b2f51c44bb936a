// Estimates how long a pass over values in the host's memory takes on the CPU and on a GPU. The costs were measured.
// The choice changes no result.
#pragma once

#include <cstdint>

#include "device/auto_gpu.hpp"
#include "device/backend.hpp"

namespace stope::stats {

// Measured and rounded. `bench/prior_works.py --work 001 --constants` prints the constants; bench/results/stats_*.json
// has the times of the back ends.

/// Bytes a second of one CPU thread that computes all statistics.
constexpr double thread_rate(device::Backend backend) {
  switch (backend) {
    case device::Backend::avx512:
    case device::Backend::avx512vnni: return 8e9;
    case device::Backend::avx2: return 4.5e9;
    default: return 2.5e9;
  }
}

/// kCopyRate: bytes a second from unpinned host memory to a GPU. kCallSeconds: what a call takes besides the copy,
/// mostly to allocate memory for its pieces.
inline constexpr double kCopyRate = 17e9, kCallSeconds = 0.01;

/// Less is computed on the CPU even where a GPU was named: one CPU thread is done before a GPU would be. The same holds
/// for columns with fewer values, because each column has a cost of its own.
inline constexpr std::int64_t kFewestGpuBytes = std::int64_t{1} << 27, kFewestGpuRows = std::int64_t{1} << 17;
inline constexpr double kEvenBytes = kCallSeconds / (1.0 / thread_rate(device::Backend::avx512) - 1.0 / kCopyRate);
static_assert(kEvenBytes >= static_cast<double>(kFewestGpuBytes) &&
              kEvenBytes < 2.0 * static_cast<double>(kFewestGpuBytes));

/// Estimates for --device auto. Values in a GPU's memory are always computed there.
constexpr device::Offer offer_of(std::int64_t bytes, device::Backend backend, int threads, int n_gpus) {
  const auto size = static_cast<double>(bytes);
  return {size / (thread_rate(backend) * threads), kCallSeconds + size / (kCopyRate * n_gpus)};
}

}  // namespace stope::stats
