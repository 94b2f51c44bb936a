// When a pass over values in the host's memory goes to a GPU. The choice changes no result.
#pragma once

#include <cstdint>

namespace stope::stats {

/// Shorter columns are computed on the processor even where a GPU was named: a launch costs more than they do.
inline constexpr std::int64_t kFewestGpuRows = std::int64_t{1} << 17;

/// What --device auto weighs: bytes a second that a thread of the processor takes in, that a GPU gets through the bus
/// from memory that is not pinned, and the seconds a GPU's driver takes to start. Values in a GPU's memory are always
/// computed there.
inline constexpr double kThreadRate = 5e9, kCopyRate = 6.3e9, kGpuStartSeconds = 0.2;

constexpr bool gpu_pays(std::int64_t bytes, int threads, int n_gpus, bool started) {
  const auto size = static_cast<double>(bytes);
  return size / (kThreadRate * threads) > size / (kCopyRate * n_gpus) + (started ? 0.0 : kGpuStartSeconds);
}

}  // namespace stope::stats
