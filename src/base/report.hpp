// Reports as text and JSON, and their way to RunOptions::report.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "stope/backend_report.hpp"
#include "stope/report.hpp"
#include "stope/run.hpp"

namespace stope {

/// One JSON object; members in the order they were added.
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value);
  JsonObject& integer(std::string_view key, std::int64_t value);
  JsonObject& number(std::string_view key, double value);  ///< NaN and infinities, which JSON lacks, are null
  JsonObject& object(std::string_view key, const JsonObject& value);
  /// Adds "backend", "reason" and "device_reason".
  JsonObject& backend(const BackendReport& report);
  /// Adds an object of seconds by step, if there are any.
  JsonObject& steps(std::string_view key, const std::vector<std::pair<std::string, double>>& seconds);
  std::string done() const { return "{" + members_ + "}"; }

 private:
  JsonObject& raw(std::string_view key, const std::string& value);
  std::string members_;
};

/// The first lines of every report: the back end, and why --device auto took it.
std::string backend_text(const BackendReport& report);

/// A number with so many decimals, or with so many digits as %g writes it.
std::string fixed_text(double value, int decimals);
std::string rounded_text(double value, int digits);

/// One line for a terminal: a line end becomes a blank, other control characters become \xNN.
std::string one_line(std::string_view text);

// Argument-dependent lookup finds the function of the type; inside ReportOf the members' names would hide it.
template <class Type>
std::string json_of(const Type& report) {
  return to_json(report);
}
template <class Type>
std::string text_of(const Type& report) {
  return to_text(report);
}

/// A report of any type behind the interface that guests get. Its to_json and to_text are those of the type.
template <class Type>
class ReportOf final : public Report {
 public:
  ReportOf(std::string_view job, const Type& report) : job_(job), report_(report) {}
  std::string_view job() const override { return job_; }
  const BackendReport& backend() const override { return report_; }
  std::string to_json() const override { return json_of(report_); }
  std::string to_text() const override { return text_of(report_); }
  std::shared_ptr<const Report> copy() const override { return std::make_shared<const Copy>(job_, report_); }

 private:
  struct Copy final : Report {
    Copy(std::string_view job, const Type& report) : name(job), kept(report) {}
    std::string_view job() const override { return name; }
    const BackendReport& backend() const override { return kept; }
    std::string to_json() const override { return json_of(kept); }
    std::string to_text() const override { return text_of(kept); }
    std::shared_ptr<const Report> copy() const override { return std::make_shared<const Copy>(*this); }
    std::string name;
    Type kept;
  };

  std::string_view job_;
  const Type& report_;
};

/// Hands the report of a job that has succeeded to the guest. Only on the thread that called the job.
template <class Type>
void hand_report(const RunOptions& run, std::string_view job, const Type& report) {
  if (run.report) run.report(ReportOf<Type>(job, report));
}

/// The wall time of a job that has no report of its own.
class JobTime {
 public:
  explicit JobTime(const RunOptions& run) : run_(run), running_(run) {}
  void hand(std::string_view job, int threads) const {
    hand_report(run_, job,
                BackendReport{.backend = "scalar",
                              .reason = {},
                              .device_reason = run_.device == "auto" ? "auto: GPUs have no part in it" : "",
                              .threads = threads,
                              .seconds = seconds()});
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  const RunOptions& run_;
  RunningJob running_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace stope
