// The reports of the gram operator and of decompositions as JSON and text (stope/gram.hpp, stope/decompose.hpp).
#include "base/report.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "stope/decompose.hpp"
#include "stope/gram.hpp"

namespace stope {

std::string to_json(const GramReport& report) try {
  return JsonObject()
      .backend(report)
      .text("method", report.method)
      .integer("threads", report.threads)
      .integer("passes", report.passes)
      .integer("bytes", report.bytes)
      .done();
} catch (...) {
  rethrow_as_error();
}

std::string to_text(const GramReport& report) try {
  return backend_text(report) + "method    " + report.method + "\nthreads   " + std::to_string(report.threads) + "\n";
} catch (...) {
  rethrow_as_error();
}

std::string to_json(const DecomposeReport& report) try {
  JsonObject json;
  if (!report.backend.empty()) json.text("backend", report.backend);  // else the method multiplies nothing
  return json.text("reason", report.reason)
      .text("device_reason", report.device_reason)
      .text("method", report.method)
      .text("method_reason", report.method_reason)
      .integer("n_samples", report.n_samples)
      .integer("n_features", report.n_features)
      .integer("products", report.products)
      .integer("iterations", report.iterations)
      .integer("threads", report.threads)
      .integer("memory_planned", report.memory_planned)
      .integer("memory_budget", report.memory_budget)
      .number("seconds", report.seconds)
      .done();
} catch (...) {
  rethrow_as_error();
}

std::string to_text(const DecomposeReport& report) try {
  std::string text =
      backend_text(report) + "method    " + report.method + " (" + one_line(report.method_reason) + ")\n";
  if (report.products > 0) {
    text += "passes    " + std::to_string(report.products) + " products of the matrix, " +
            std::to_string(report.iterations) + (report.method == "lsqr" ? " steps, " : " restarts, ") +
            report.backend + "\n";
  }
  return text + "memory    " + format_bytes(report.memory_planned) + " planned, budget " +
         format_bytes(report.memory_budget) + ", " + counted(report.threads, "thread") + "\n";
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
