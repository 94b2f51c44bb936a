// How a job runs: threads, memory budget, device, cancellation, progress. None of these changes a result.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace stope {

/// A flag that asks running jobs to stop. Copies share the flag. cancel() is safe from other threads and from signal
/// handlers; jobs poll between tiles and throw Error{cancelled} within half a second.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void cancel() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return flag_->load(std::memory_order_relaxed); }
  /// Throws Error{cancelled} if cancel() was called.
  void check() const;

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
  static_assert(std::atomic<bool>::is_always_lock_free, "cancel() must be async-signal-safe");
};

/// Called now and then with the name of the phase and how much of it is done, in the phase's own unit (bytes, rows).
/// Calls come from one thread at a time. `done` never decreases within a phase; `total` is 0 where it is not known.
using ProgressCallback = std::function<void(std::string_view phase, std::int64_t done, std::int64_t total)>;

/// The options that every job takes. The defaults use the whole machine.
struct RunOptions {
  int threads = 0;                ///< worker threads; 0 = as many as the process may use
  std::int64_t memory_limit = 0;  ///< bytes the job may hold beyond its inputs, and on each GPU; 0 = 80 % of what is
                                  ///< available now
  std::string device = "auto";    ///< auto (a GPU where it pays) | cpu | cuda (the first GPU) | cuda:0,1 (these GPUs)
  CancelToken cancel = {};
  ProgressCallback progress = {};  ///< empty = none
};

/// Cores this process may use (affinity mask), at least 1.
int available_threads();

/// Bytes a job may use under `options`: the limit given, else 80 % of the memory available now (cgroup limits
/// respected). Throws invalid_argument for a negative limit.
std::int64_t memory_budget(const RunOptions& options);

}  // namespace stope
