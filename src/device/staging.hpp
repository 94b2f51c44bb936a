// The threads with which a job copies its memory to pinned memory, piece by piece, on its way to a GPU.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/thread_pool.hpp"
#include "stope/run.hpp"

namespace stope::device {

/// Such threads look for the next piece for that long, about as long as a GPU copies one. A sleeping thread wakes too
/// late for a piece of a few megabytes.
inline constexpr std::chrono::microseconds kStagingAwake{200};

/// How many of the run's threads are worth starting to copy that many bytes. More than 16 copy no faster than the bus.
inline int staging_threads(const RunOptions& run, std::int64_t bytes) {
  constexpr std::int64_t kThreadBytes = std::int64_t{4} << 20;  // several times what is copied while a thread starts
  constexpr std::int64_t kMost = 16;
  const std::int64_t most = std::min<std::int64_t>(run.threads > 0 ? run.threads : available_threads(), kMost);
  return static_cast<int>(std::clamp<std::int64_t>(bytes / kThreadBytes, 1, most));
}

}  // namespace stope::device
