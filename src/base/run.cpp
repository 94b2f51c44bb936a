// Cancellation, progress for other threads, thread count and memory budget (stope/run.hpp).
#include "stope/run.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>

#include "base/cgroup.hpp"
#include "base/environment.hpp"
#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "stope/error.hpp"
#include "stope/version.hpp"

namespace stope {

std::string_view version() noexcept {
  return STOPE_VERSION;
}

void CancelToken::check() const try {
  if (cancelled()) throw Error(ErrorCode::cancelled, "cancelled");
} catch (...) {
  rethrow_as_error();
}

ProgressState ProgressWatch::state() const {
  const std::lock_guard lock(shared_->mutex);
  ProgressState state = shared_->state;
  state.running = shared_->jobs > 0;
  return state;
}

void ProgressWatch::begin() const {
  const std::lock_guard lock(shared_->mutex);
  ++shared_->jobs;
}

void ProgressWatch::update(std::string_view phase, std::int64_t done, std::int64_t total) const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->state.phase != phase) shared_->state.phase = phase;
  shared_->state.done = done;
  shared_->state.total = total;
}

void ProgressWatch::end() const noexcept {
  const std::lock_guard lock(shared_->mutex);
  --shared_->jobs;
}

namespace {

// The folder below which /proc and /sys are read: the system's, or a test's.
std::string system_root() {
  return std::string(environment::text(environment::Variable::system_root));
}

// A number that takes long to find out, compared with a small job, and that changes slowly. It is kept for the process,
// as cuda() is: it describes the machine, not a job. Two threads may both find it out; either number is recent.
class Recent {
 public:
  explicit Recent(std::chrono::milliseconds age) : age_(age) {}

  template <class Find>
  std::int64_t get(const Find& find) {
    const std::string root = system_root();
    if (!root.empty()) return find(root);  // a test changes the files as it likes
    using Clock = std::chrono::steady_clock;
    const std::int64_t now = Clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    const std::int64_t found = found_.load(std::memory_order_acquire);
    if (found != 0 && now - found < age_.count()) return value_.load(std::memory_order_relaxed);
    const std::int64_t value = find(root);
    value_.store(value, std::memory_order_relaxed);
    found_.store(now, std::memory_order_release);
    return value;
  }

 private:
  const std::chrono::nanoseconds age_;
  std::atomic<std::int64_t> value_{0}, found_{0};
};

int affine_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

std::int64_t meminfo_bytes(const std::string& root, const std::string& key) {
  std::ifstream file(root + "/proc/meminfo");
  std::string name;
  std::int64_t kib = 0;
  std::string unit;
  while (file >> name >> kib) {
    std::getline(file, unit);
    if (name == key) return kib * 1024;
  }
  return -1;
}

constexpr std::int64_t kUnknown = std::int64_t{1} << 30;  // taken for a machine that does not say

}  // namespace

int available_threads() {
  static Recent most{std::chrono::seconds(1)};
  // A group with the time of one and a half CPUs has work for two threads.
  const std::int64_t allowed = most.get([](const std::string& root) {
    return static_cast<std::int64_t>(std::clamp(std::ceil(cgroup_cpus(root)), 1.0, 1e6));
  });
  return static_cast<int>(std::min<std::int64_t>(affine_threads(), allowed));
}

std::int64_t memory_total_bytes() {
  const std::string root = system_root();
  const std::int64_t total = meminfo_bytes(root, "MemTotal:"), limit = cgroup_memory(root).limit;
  return total < 0 && limit == CgroupMemory::kNone ? kUnknown : total < 0 ? limit : std::min(total, limit);
}

std::int64_t memory_available_bytes() {
  // Calls that take microseconds ask as well. In this time a process fills a tenth of a gigabyte.
  static Recent available{std::chrono::milliseconds(20)};
  return available.get([](const std::string& root) {
    const std::int64_t free = meminfo_bytes(root, "MemAvailable:"), left = cgroup_memory(root).left;
    return free < 0 && left == CgroupMemory::kNone ? kUnknown : free < 0 ? left : std::min(free, left);
  });
}

std::int64_t progress_delay() try {
  constexpr std::int64_t kUsual = 1000;
  const std::int64_t forced = environment::count(environment::Variable::progress_delay);
  return forced > 0 ? forced : kUsual;
} catch (...) {
  rethrow_as_error();
}

std::int64_t memory_budget(const RunOptions& options) try {
  if (options.memory_limit < 0) {
    throw Error(ErrorCode::invalid_argument, "memory limit " + std::to_string(options.memory_limit) + " is negative",
                {.option = "memory_limit"});
  }
  if (options.memory_limit > 0) return options.memory_limit;
  return memory_available_bytes() / 5 * 4;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
