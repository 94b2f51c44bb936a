// The report of best cuts and of sets of cuts as JSON and text (stope/discretize.hpp).
#include "base/report.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "stope/discretize.hpp"

namespace stope {

std::string to_json(const DiscretizeReport& report) try {
  JsonObject json;
  json.backend(report).integer("threads", report.threads).number("seconds", report.seconds);
  if (report.gpu_seconds > 0.0) json.number("gpu_seconds", report.gpu_seconds);
  return json.done();
} catch (...) {
  rethrow_as_error();
}

std::string to_text(const DiscretizeReport& report) try {
  return backend_text(report) + "cuts      " + std::to_string(report.n_attributes) + " attributes of " +
         std::to_string(report.n_rows) + " rows in " + fixed_text(report.seconds, 3) + " s, " +
         counted(report.threads, "thread") + "\n";
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
