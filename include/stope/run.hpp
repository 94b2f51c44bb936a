// How a job runs: threads, memory budget, device, cancellation, and what it tells while it runs: progress, warnings,
// its report. None of these changes a result.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace stope {

/// A flag that asks running jobs to stop. Copies share the flag. cancel() is safe from other threads and from signal
/// handlers; jobs poll between tiles and throw Error{cancelled} within half a second.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void cancel() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return flag_->load(std::memory_order_relaxed); }
  /// Takes cancel() back, so that the token serves another job. Jobs under way may miss the cancel().
  void reset() const noexcept { flag_->store(false, std::memory_order_relaxed); }
  /// Throws Error{cancelled} if cancel() was called.
  void check() const;

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
  static_assert(std::atomic<bool>::is_always_lock_free, "cancel() must be async-signal-safe");
};

/// Called now and then with the name of the phase and how much of it is done, in the phase's own unit (bytes, rows).
/// Always called by the thread that called the job. `done` never decreases within a phase and ends at `total`; `total`
/// is 0 where it is not known. What it throws ends the job and reaches the job's caller.
using ProgressCallback = std::function<void(std::string_view phase, std::int64_t done, std::int64_t total)>;

/// What a ProgressWatch saw last. The phase keeps its name after the job.
struct ProgressState {
  std::string phase;  ///< empty before the first phase
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0 = not known
  bool running = false;    ///< whether a job with this watch is under way
};

/// The progress of the jobs that were given it, readable from any thread at any time. Copies share what they see. Give
/// each job at a time its own watch: two jobs on one watch write over each other's phases.
class ProgressWatch {
 public:
  ProgressWatch() : shared_(std::make_shared<Shared>()) {}
  ProgressState state() const;

  /// For the library's jobs: they begin, go on and end. Jobs inside a job are parts of it.
  void begin() const;
  void update(std::string_view phase, std::int64_t done, std::int64_t total) const;
  void end() const noexcept;

 private:
  struct Shared {
    std::mutex mutex;  // held for the copy of a few words
    ProgressState state;
    std::int64_t jobs = 0;
  };
  std::shared_ptr<Shared> shared_;
};

/// Called by the thread that called the job, at most once a job for each code: `code` is one of stope/warning.hpp,
/// `text` a sentence for people.
using WarningCallback = std::function<void(std::string_view code, std::string_view text)>;

class Report;
/// Called by the thread that called the job, when the job has succeeded: what ran it, and how (stope/report.hpp).
using ReportCallback = std::function<void(const Report& report)>;

/// The options that every job takes. The defaults use the whole machine.
struct RunOptions {
  int threads = 0;                ///< worker threads; 0 = as many as the process may use
  std::int64_t memory_limit = 0;  ///< bytes the job may hold beyond its inputs, its results included, and on each GPU;
                                  ///< 0 = 80 % of what is available now. A sink takes results that exceed it.
  std::string device = "auto";    ///< auto (a GPU where it pays) | cpu | cuda (the first GPU) | cuda:0,1 (these GPUs) |
                                  ///< cuda:GPU-8932f937 (by the UUID that nvidia-smi prints, or its beginning)
  CancelToken cancel = {};
  ProgressCallback progress = {};  ///< empty = none
  ProgressWatch watch = {};        ///< the same progress for other threads: keep a copy and ask it
  WarningCallback warn = {};       ///< empty = warnings are dropped
  ReportCallback report = {};      ///< empty = reports are dropped
};

/// CPUs that this process may use, at least 1: its affinity mask and the quotas of its control groups.
int available_threads();

/// After how many milliseconds of work a front end shows its progress: 1000, or what STOPE_PROGRESS_DELAY says.
std::int64_t progress_delay();

/// Bytes a job may use under `options`: the limit given, else 80 % of the memory available now (cgroup limits
/// respected). Throws invalid_argument for a negative limit.
std::int64_t memory_budget(const RunOptions& options);

}  // namespace stope
#pragma GCC visibility pop
