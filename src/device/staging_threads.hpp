// How many threads a job starts to fill pinned memory (device/staging.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "stope/run.hpp"

namespace stope::device {

/// How many of the run's threads are worth starting to copy that many bytes. More than 16 copy no faster than the bus.
inline int staging_threads(const RunOptions& run, std::int64_t bytes) {
  constexpr std::int64_t kThreadBytes = std::int64_t{4} << 20;  // several times what is copied while a thread starts
  constexpr std::int64_t kMost = 16;
  const std::int64_t most = std::min<std::int64_t>(run.threads > 0 ? run.threads : available_threads(), kMost);
  return static_cast<int>(std::clamp<std::int64_t>(bytes / kThreadBytes, 1, most));
}

}  // namespace stope::device
