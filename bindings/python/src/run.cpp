#include "run.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "errors.hpp"
#include "gil.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/report.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

constexpr std::chrono::milliseconds kPoll{50};

// A job in a thread of its own, and the thread that waits for it.
class Worker {
 public:
  Worker(const std::function<void(const RunOptions&)>& job, const RunOptions& options)
      : thread_([this, &job, &options] {
          std::exception_ptr error;
          try {
            job(options);
          } catch (...) {
            error = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          error_ = error;
          done_ = true;
          ended_.notify_one();
        }) {}

  /// Waits at most kPoll; true once the job has ended.
  bool ended() {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, kPoll, [this] { return done_; });
  }
  std::exception_ptr join() {
    thread_.join();
    return error_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all of the above
};

void call_progress(const Run& run, const ProgressState& state) {
  run.progress(state.phase.c_str(), state.done, state.total);
}

// Runs the job in another thread, and polls signals and progress here.
void run_beside(const Run& run, const std::function<void(const RunOptions&)>& job, const RunOptions& options) {
  std::exception_ptr raised;  // by a signal's handler or the progress callback
  const auto attend = [&] {
    if (raised) return;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      const ProgressState state = options.watch.state();
      if (!run.progress.is_none() && !state.phase.empty()) call_progress(run, state);
    } catch (...) {
      raised = std::current_exception();
      options.cancel.cancel();
    }
  };
  std::exception_ptr failed;
  {
    const WithoutGil released(options.cancel);
    Worker worker(job, options);
    while (!worker.ended()) {
      const nb::gil_scoped_acquire acquired;
      attend();
    }
    failed = worker.join();
  }
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
  const ProgressState last = options.watch.state();  // the last phase is complete now
  if (!run.progress.is_none() && !last.phase.empty()) call_progress(run, last);
}

// Runs the job in this thread. Only the main thread gets signals, so none can be lost here.
void run_here(const Run& run, const std::function<void(const RunOptions&)>& job, RunOptions options) {
  if (!run.progress.is_none()) {
    options.progress = [&run](std::string_view phase, std::int64_t done, std::int64_t total) {
      const nb::gil_scoped_acquire acquired;
      call_progress(run, {.phase = std::string(phase), .done = done, .total = total});
    };
  }
  const WithoutGil released(options.cancel);
  job(options);
}

}  // namespace

void run_job(Run& run, const std::function<void(const RunOptions&)>& job, Duration duration) {
  std::shared_ptr<const Report> last;
  std::vector<std::pair<std::string, std::string>> warnings;
  RunOptions options;
  options.threads = run.threads;
  options.memory_limit = run.memory_limit;
  options.device = run.device;
  // Ctrl-C has ended one job, and the next one may run; whoever has cancelled the run meant this one, too.
  if (!run.stopped) run.cancel.reset();
  if (run.stopped) run.cancel.cancel();
  options.cancel = run.cancel;
  options.watch = run.watch;
  options.warn = [&](std::string_view code, std::string_view sentence) { warnings.emplace_back(code, sentence); };
  options.report = [&](const Report& report) { last = report.copy(); };
  try {
    if (duration == Duration::any && run.attends_signals && on_main_thread()) {
      run_beside(run, job, options);
    } else {
      run_here(run, job, options);
    }
  } catch (const Error&) {
    if (left_behind()) end_thread();  // the interpreter's end has cancelled the job
    throw;
  }
  run.report = std::move(last);
  run.warnings.insert(run.warnings.end(), warnings.begin(), warnings.end());
}

void bind_run(nb::module_& module) {
  nb::class_<Run>(module, "Run", "How a job runs, and what it has said of itself.")
      .def(
          "__init__",
          [](Run* self, int threads, std::int64_t memory_limit, std::string device, nb::object progress) {
            new (self) Run{.threads = threads,
                           .memory_limit = memory_limit,
                           .device = std::move(device),
                           .progress = std::move(progress),
                           .report = {},
                           .warnings = {}};
          },
          nb::arg("threads") = 0, nb::arg("memory_limit") = 0, nb::arg("device") = "auto",
          nb::arg("progress").none() = nb::none())
      .def_prop_ro("has_report", [](const Run& run) { return run.report != nullptr; })
      .def_prop_ro("report_json", [](const Run& run) { return run.report ? run.report->to_json() : ""; })
      .def_prop_ro("report_text", [](const Run& run) { return run.report ? run.report->to_text() : ""; })
      .def_ro("warnings", &Run::warnings)
      .def_rw("attends_signals", &Run::attends_signals,
              "False: the main thread runs jobs itself, and signals wait until they end. For jobs that are short.")
      .def(
          "cancel",
          [](Run& run) {
            run.stopped = true;
            run.cancel.cancel();
          },
          "End the job that runs, and every later one of this run. Any thread may call it.")
      .def_prop_ro(
          "progress_state",
          [](const Run& run) {
            const ProgressState state = run.watch.state();
            return nb::make_tuple(state.phase, state.done, state.total);
          },
          "(phase, done, total) of the job that runs; total is 0 where nobody knows it. Any thread may ask.");
  module.def("progress_delay", &progress_delay, "Milliseconds of work after which progress is shown.");
  module.def("require_backend", [](const Run& run) { require_backend({.device = run.device}); }, nb::arg("run"));
}

}  // namespace stope::python
