#include "arguments/decompose_arguments.hpp"

#include <fmt/format.h>

#include "arguments/option.hpp"
#include "report/backend_report.hpp"
#include "stope/io.hpp"

namespace stope::cli {

void DecomposeArguments::add_to(CLI::App& app, const std::string& what) {
  OptionGroup group(app, "Attributes");
  group.choice("--impute", impute, {"none", "mean"},
               "A missing value of an attribute is an error (none) or counts as its column's mean [" + impute + "]");
  group.flag("--numeric-only", numeric_only, "Leave nominal attributes out; without it they are an error");
  group.text("--apply", apply, "FILE", "Fit nothing: apply the " + what + " of an earlier run to TABLE");
}

MissingValues DecomposeArguments::missing() const {
  return impute == "mean" ? MissingValues::mean : MissingValues::error;
}

NominalFeatures DecomposeArguments::nominal() const {
  return numeric_only ? NominalFeatures::skip : NominalFeatures::error;
}

void note_plan(Session& session, const DecomposeReport& report) {
  Json plan = backend_json(report);
  if (report.backend.empty()) plan.erase("backend");  // the method multiplies nothing
  plan.update({{"method", report.method},
               {"method_reason", report.method_reason},
               {"n_samples", report.n_samples},
               {"n_features", report.n_features},
               {"products", report.products},
               {"iterations", report.iterations},
               {"threads", report.threads},
               {"memory_planned", report.memory_planned},
               {"memory_budget", report.memory_budget},
               {"seconds", report.seconds}});
  session.json()["plan"] = std::move(plan);
  if (!session.arguments().explain) return;
  say_backend(session, report);
  session.say(fmt::format("method    {} ({})\n", report.method, one_line(report.method_reason)));
  if (report.products > 0) {
    session.say(fmt::format("passes    {} products of the matrix, {} {}, {}\n", report.products, report.iterations,
                            report.method == "lsqr" ? "steps" : "restarts", report.backend));
  }
  session.say(fmt::format("memory    {} planned, budget {}, {} threads\n", format_bytes(report.memory_planned),
                          format_bytes(report.memory_budget), report.threads));
}

Table read_fitted(const std::string& path, const RunOptions& run) {
  ReadOptions options;
  options.header = Header::yes;
  options.missing = {};  // an attribute may be called NA
  options.nominal = {"kind", "name"};
  options.unknown_columns = UnknownColumns::skip;  // the reader of models has a better message for other tables
  return read_table(path, options, run);
}

}  // namespace stope::cli
