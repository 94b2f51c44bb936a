// How much memory this process may use, cgroup limits respected, and how a job is refused that needs more.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "stope/error.hpp"
#include "stope/run.hpp"

namespace stope {

std::int64_t memory_total_bytes();
std::int64_t memory_available_bytes();

/// Refuses a job: "NEED BYTES bytes, but the memory limit leaves BUDGET".
[[noreturn]] inline void refuse_memory(const std::string& need, std::int64_t bytes, std::int64_t budget,
                                       Place place = {}) {
  place.bytes = bytes;
  throw Error(ErrorCode::out_of_memory,
              need + " " + std::to_string(bytes) + " bytes, but the memory limit leaves " + std::to_string(budget),
              std::move(place));
}

/// Refuses a job that needs `bytes` or more, nobody knows how much: "NEED at least BYTES bytes, ...". The error names
/// no bytes that would do.
[[noreturn]] inline void refuse_memory_from(const std::string& need, std::int64_t bytes, std::int64_t budget,
                                            Place place = {}) {
  place.bytes = -1;
  throw Error(
      ErrorCode::out_of_memory,
      need + " at least " + std::to_string(bytes) + " bytes, but the memory limit leaves " + std::to_string(budget),
      std::move(place));
}

/// Refuses as refuse_memory() does, if `bytes` are more than the run may use. Without a limit, what is available is
/// looked up only where that is worth the system calls.
inline void require_memory(const std::string& need, std::int64_t bytes, const RunOptions& run, Place place = {}) {
  constexpr std::int64_t kAlwaysThere = std::int64_t{1} << 22;
  if (run.memory_limit == 0 && bytes <= kAlwaysThere) return;
  if (const std::int64_t budget = memory_budget(run); bytes > budget) {
    refuse_memory(need, bytes, budget, std::move(place));
  }
}

}  // namespace stope
