// How many threads a piece of work is worth (docs/adr/0025-small-calls.md).
#pragma once

#include <algorithm>

namespace stope {

/// Seconds of one thread's work that pay for another thread. To start one takes 12 to 150 microseconds
/// (bench/results/prior_works_001_*.json, bench/results/small_calls_*.json).
inline constexpr double kSecondsPerThread = 250e-6;

/// Returns how many of `allowed` threads work that takes one thread `seconds` is worth; at least 1.
inline int threads_for(double seconds, int allowed) {
  const double most = std::max(allowed, 1);
  return static_cast<int>(std::clamp(seconds / kSecondsPerThread, 1.0, most));
}

}  // namespace stope
