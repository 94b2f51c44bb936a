// Cancellation, thread count and memory budget (stope/run.hpp).
#include "stope/run.hpp"

#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/memory.hpp"
#include "stope/error.hpp"
#include "stope/version.hpp"

namespace stope {

std::string_view version() noexcept {
  return STOPE_VERSION;
}

void CancelToken::check() const {
  if (cancelled()) throw Error(ErrorCode::cancelled, "cancelled");
}

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

namespace {

std::int64_t number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = -1;
  return file >> value ? value : -1;  // "max" is no number: there is no limit
}

std::int64_t meminfo_bytes(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kib = 0;
  std::string unit;
  while (file >> name >> kib) {
    std::getline(file, unit);
    if (name == key) return kib * 1024;
  }
  return -1;
}

}  // namespace

std::int64_t memory_total_bytes() {
  std::int64_t total = meminfo_bytes("MemTotal:");
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit >= 0 && (total < 0 || limit < total)) total = limit;
  return total < 0 ? std::int64_t{1} << 30 : total;
}

std::int64_t memory_available_bytes() {
  std::int64_t available = meminfo_bytes("MemAvailable:");
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::int64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit >= 0 && used >= 0) {
    const std::int64_t left = limit > used ? limit - used : 0;
    if (available < 0 || left < available) available = left;
  }
  return available < 0 ? std::int64_t{1} << 30 : available;
}

std::int64_t memory_budget(const RunOptions& options) {
  if (options.memory_limit < 0) {
    throw Error(ErrorCode::invalid_argument, "memory limit " + std::to_string(options.memory_limit) + " is negative");
  }
  if (options.memory_limit > 0) return options.memory_limit;
  return memory_available_bytes() / 5 * 4;
}

}  // namespace stope
