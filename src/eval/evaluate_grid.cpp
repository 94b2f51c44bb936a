// Several measures and normalisations of k-NN, each evaluated on the same splits (stope/eval.hpp).
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/guarded.hpp"
#include "base/report.hpp"
#include "eval/resample.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/warning.hpp"

namespace stope {
namespace {

bool lists(std::string_view words, std::string_view word) {
  const std::string all = " " + std::string(words) + " ";
  return all.find(" " + std::string(word) + " ") != std::string::npos;
}

// Every measure with the parameters that it has.
std::vector<Metric> metrics_of(const std::vector<std::string>& names,
                               const std::map<std::string, std::string>& params) {
  std::vector<Metric> metrics;
  metrics.reserve(names.size());
  for (const std::string& name : names) {
    Metric metric{name, {}};
    const std::string_view known = find_metric(name).params;
    for (const auto& [key, value] : params) {
      if (lists(known, key)) metric.params.emplace(key, value);
    }
    metrics.push_back(std::move(metric));
  }
  for (const auto& [key, value] : params) {
    if (std::any_of(metrics.begin(), metrics.end(), [&](const Metric& one) { return one.params.contains(key); }))
      continue;
    throw Error(ErrorCode::invalid_argument, "none of these measures has a parameter '" + key + "'",
                {.option = "metric_params"});
  }
  return metrics;
}

void require_any(bool any, const char* what, const char* option) {
  if (any) return;
  throw Error(ErrorCode::invalid_argument, std::string("no ") + what + " to evaluate", {.option = option});
}

// Where normalisations are compared, the user has thought of ranges that are far apart.
RunOptions without_range_warning(const RunOptions& run) {
  RunOptions quiet = run;
  if (!run.warn) return quiet;
  quiet.warn = [warn = run.warn](std::string_view code, std::string_view text) {
    if (code != warning::kRangesApart) warn(code, text);
  };
  return quiet;
}

}  // namespace

EvaluationGrid evaluate_grid(const Table& table, const EvaluateOptions& options,
                             const std::vector<std::string>& metrics,
                             const std::vector<NormalizeOptions>& normalizations, const RunOptions& run) try {
  require_any(!metrics.empty(), "measure", "metric");
  require_any(!normalizations.empty(), "normalisation", "normalize");
  const RunOptions inner = normalizations.size() > 1 ? without_range_warning(run) : run;
  EvaluationGrid grid;
  const auto order = [](const Evaluation& evaluation) {
    const EvaluationOfK& best = evaluation.of_k[evaluation.best];
    return std::pair(loss_of(best.repeats, evaluation.label_is_nominal), best.k);
  };
  for (const Metric& metric : metrics_of(metrics, options.knn.metric.params)) {
    for (const NormalizeOptions& normalize : normalizations) {
      EvaluateOptions here = options;
      here.knn.metric = metric;
      here.normalize = normalize;
      grid.cells.push_back({metric, normalize, evaluate(table, here, inner)});
      const std::size_t last = grid.cells.size() - 1;
      if (last == 0) continue;
      const bool better = order(grid.cells[last].evaluation) < order(grid.cells[grid.best].evaluation);
      Evaluation& worse = grid.cells[better ? grid.best : last].evaluation;
      worse.of_k[worse.best].predictions = {};
      if (better) grid.best = last;
    }
  }
  return grid;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
