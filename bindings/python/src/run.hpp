// How a job of Python's runs: without the GIL, stopped by Ctrl-C, with progress, warnings and a report.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stope/report.hpp"
#include "stope/run.hpp"

namespace stope::python {

/// What Python says of a run, and what a run has said: `stope._core.Run`. One job at a time uses it.
struct Run {
  int threads = 0;
  std::int64_t memory_limit = 0;
  std::string device = "auto";
  nanobind::object progress;  ///< called with (phase, done, total), or None

  std::shared_ptr<const Report> report;                       ///< of the last job; null = none
  std::vector<std::pair<std::string, std::string>> warnings;  ///< code and text, of all jobs

  CancelToken cancel = {};   ///< of its jobs: an object that lasts longer than a job keeps a copy
  ProgressWatch watch = {};  ///< of its jobs, for other threads

  /// Whether Python's main thread looks at signals while its job runs. A server's loop looks at them itself.
  bool attends_signals = true;

  /// Whether somebody has cancelled the run itself: then every later job of it ends at once, too.
  std::atomic<bool> stopped = false;
};

/// Whether a job may take so long that somebody would press Ctrl-C. A short one is not worth a thread.
enum class Duration { any, brief };

/// Calls `job` without the GIL. `any`, on Python's main thread: the job runs in a thread of its own, and signals are
/// looked at every 50 ms; a handler that raises cancels the job, and its exception is thrown. What the job throws, and
/// what the progress callback raises, is thrown here.
void run_job(Run& run, const std::function<void(const RunOptions&)>& job, Duration duration = Duration::any);

/// As above, and returns what the job returns.
template <class Job>
auto result_of(Run& run, const Job& job, Duration duration = Duration::any) {
  decltype(job(std::declval<const RunOptions&>())) result;
  run_job(run, [&](const RunOptions& options) { result = job(options); }, duration);
  return result;
}

void bind_run(nanobind::module_& module);

}  // namespace stope::python
