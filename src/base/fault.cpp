#include "base/fault.hpp"

#include <atomic>
#include <cerrno>

#include "base/environment.hpp"

namespace stope::fault {
namespace {

// Counts down to the operation that fails; <= 0 is off. The environment arms it once, at the start, so that tests can
// drive the command line into every failure without a test build.
std::int64_t from_environment(environment::Variable variable) noexcept {
  try {
    return environment::count(variable);
  } catch (...) {
    return 0;  // a bad value arms nothing: before main() nobody could catch what is thrown
  }
}

struct Countdown {
  std::atomic<std::int64_t> left;
  bool hit() noexcept {
    if (left.load(std::memory_order_relaxed) <= 0) return false;
    return left.fetch_sub(1, std::memory_order_relaxed) == 1;
  }
};

Countdown alloc_countdown{from_environment(environment::Variable::fault_alloc)};
Countdown io_countdown{from_environment(environment::Variable::fault_io)};
Countdown device_countdown{from_environment(environment::Variable::fault_device)};
std::atomic<bool> device_lost{false};
std::atomic<int> io_errno{ENOSPC};

}  // namespace

void arm_alloc(std::int64_t n) noexcept {
  alloc_countdown.left.store(n);
}

void arm_io(std::int64_t n, int error_number) noexcept {
  io_errno.store(error_number);
  io_countdown.left.store(n);
}

void arm_device(std::int64_t n) noexcept {
  device_lost.store(false);
  device_countdown.left.store(n);
}

bool alloc_fails() noexcept {
  return alloc_countdown.hit();
}
int io_fails() noexcept {
  return io_countdown.hit() ? io_errno.load() : 0;
}
bool device_fails() noexcept {
  if (device_countdown.hit()) device_lost.store(true);
  return device_lost.load(std::memory_order_relaxed);
}

}  // namespace stope::fault
