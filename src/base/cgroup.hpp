// What control groups allow this process: memory and CPU time. Versions 1 and 2 count, and so do the groups around the
// process's own group, since each may have a smaller limit.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace stope {

struct CgroupMemory {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t limit = kNone;  ///< bytes; the smallest of all groups
  std::int64_t left = kNone;   ///< bytes below the limit of the group that is nearest to its own; cached files count
                               ///< as free where the system can drop them
};

/// Both read the files of /proc and /sys below `root`, which is empty but in tests. Files that are missing or make no
/// sense set no limit.
CgroupMemory cgroup_memory(const std::string& root);
/// Returns how many CPUs' time the process gets; infinity without a limit.
double cgroup_cpus(const std::string& root);

}  // namespace stope
