// The report of statistics as JSON and text (stope/stats.hpp).
#include "base/report.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "stope/stats.hpp"

namespace stope {

std::string to_json(const StatsReport& report) try {
  return JsonObject()
      .backend(report)
      .integer("threads", report.threads)
      .integer("bytes", report.bytes)
      .number("seconds", report.seconds)
      .number("second_pass_seconds", report.second_pass_seconds)
      .done();
} catch (...) {
  rethrow_as_error();
}

std::string to_text(const StatsReport& report) try {
  const double rate = report.seconds > 0 ? static_cast<double>(report.bytes) / report.seconds : 0;
  std::string text = backend_text(report);
  text += "pass      " + format_bytes(report.bytes) + " of values in " + fixed_text(report.seconds, 3) + " s (" +
          format_bytes(static_cast<std::int64_t>(rate)) + " per second), " + counted(report.threads, "thread") + "\n";
  if (report.second_pass_seconds > 0) {
    text += "again     " + fixed_text(report.second_pass_seconds, 3) + " s for histograms and distinct values\n";
  }
  return text;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
