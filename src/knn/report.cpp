// The report of a search as JSON and text (stope/knn_report.hpp).
#include "base/report.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "stope/knn_report.hpp"

namespace stope {

std::string to_json(const SearchReport& report) try {
  return JsonObject()
      .backend(report)
      .text("method", report.method)
      .text("method_reason", report.method_reason)
      .integer("threads", report.threads)
      .integer("tile_queries", report.tile_queries)
      .integer("tile_rows", report.tile_rows)
      .integer("part_rows", report.part_rows)
      .integer("memory_budget", report.memory_budget)
      .integer("memory_planned", report.memory_planned)
      .integer("pairs", report.pairs)
      .integer("scanned", report.scanned)
      .integer("skipped", report.skipped)
      .integer("listed", report.listed)
      .integer("evaluated", report.evaluated)
      .integer("opened", report.opened)
      .integer("uncertified", report.uncertified)
      .number("seconds", report.seconds)
      .steps("gpu_seconds", report.gpu_seconds)
      .done();
} catch (...) {
  rethrow_as_error();
}

std::string to_text(const SearchReport& report) try {
  const auto n = [](std::int64_t count) { return std::to_string(count); };
  const double rate = report.seconds > 0 ? static_cast<double>(report.pairs) / report.seconds : 0;
  std::string text = backend_text(report);
  text += "method    " + report.method + (report.method_reason.empty() ? "" : " (" + report.method_reason + ")") + "\n";
  text += "tiles     " + n(report.tile_queries) + " queries x " + n(report.tile_rows) + " rows, " +
          n(report.part_rows) + " rows in memory, " + counted(report.threads, "thread") + "\n";
  text += "memory    " + format_bytes(report.memory_planned) + " planned, budget " +
          format_bytes(report.memory_budget) + "\n";
  text += "search    " + n(report.pairs) + " pairs in " + fixed_text(report.seconds, 3) + " s (" +
          rounded_text(rate, 3) + " per second), " + n(report.evaluated) + " distances computed\n";
  if (report.scanned > 0) {
    text += "filter    " + n(report.scanned) + " pairs compared, " + n(report.skipped) + " ruled out in blocks, " +
            n(report.listed) + " listed";
    text += report.opened > 0 ? ", " + n(report.opened) + " groups of boxes opened\n" : "\n";
  }
  std::string steps;
  for (const auto& [step, seconds] : report.gpu_seconds) {
    steps += (steps.empty() ? "" : ", ") + step + " " + rounded_text(1e3 * seconds, 3) + " ms";
  }
  if (!steps.empty()) text += "gpu       " + steps + "\n";
  if (report.uncertified > 0) text += "fall-back " + n(report.uncertified) + " queries by the reference\n";
  return text;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
