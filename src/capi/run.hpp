// A run of the C ABI: the options of every job of it, and what its jobs have told.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "capi/handles.hpp"
#include "stope/run.hpp"

namespace stope::capi {

struct CancelSlot;  // src/capi/run.cpp

/// What stands behind a handle. `options.watch` and the token may be used by any thread. The other options change only
/// while no job is under way.
class Run {
 public:
  Run() = default;
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  RunOptions options;
  CancelSlot* slot = nullptr;

  std::mutex mutex;                                           // of what follows
  std::string report = "{}";                                  // of the last job that has ended
  std::vector<std::pair<std::string, std::string>> warnings;  // code, text
  bool busy = false;                                          // a job is under way
};
template <>
struct KindOf<Run> {
  static constexpr Kind value = Kind::run;
};

/// A run while one job uses it. Throws invalid_argument for what is no run, and if another job of the run is under way.
class JobRun {
 public:
  /// A null pointer is a fresh run with defaults.
  explicit JobRun(stope_run* handle);
  ~JobRun();
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  /// For one job: the run keeps its report and its warnings.
  const RunOptions& options() const { return options_; }

 private:
  std::shared_ptr<Run> run_;
  RunOptions options_;
};

/// A run for an object that outlives a call, as a builder does: it keeps the run, and with it the token.
struct LastingRun {
  std::shared_ptr<Run> run;
  RunOptions options;  // threads, memory, device, and the token
};
LastingRun lasting_run(stope_run* handle);

}  // namespace stope::capi
