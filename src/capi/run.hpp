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

/// What stands behind a handle. `options.watch` and the token may be used by any thread. All else belongs to the job
/// under way, or to the thread that holds the mutex while no job is.
class Run {
 public:
  Run() = default;
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  RunOptions options;
  std::string report = "{}";
  std::vector<std::pair<std::string, std::string>> warnings;  // code, text
  std::string warnings_json;
  CancelSlot* slot = nullptr;

  std::mutex mutex;
  bool busy = false;  // a job is under way
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
  /// For an object that outlives the job: threads, memory, device, and the token.
  RunOptions lasting() const;

 private:
  std::shared_ptr<Run> run_;
  RunOptions options_;
};

}  // namespace stope::capi
