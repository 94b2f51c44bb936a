#include "jobs/evaluation.hpp"

#include <string>
#include <utility>
#include <vector>

#include "jobs/job_options.hpp"
#include "jobs/label.hpp"
#include "jobs/result_tables.hpp"
#include "stope/error.hpp"

namespace stope::jobs {
namespace {

using Numbers = std::vector<double>;
using Score = double RepeatScores::*;

struct NamedScore {
  const char* name;
  Score score;
};
constexpr NamedScore kClassScores[] = {
    {"accuracy", &RepeatScores::accuracy}, {"kappa", &RepeatScores::kappa},
    {"macro_f1", &RepeatScores::macro_f1}, {"balanced_accuracy", &RepeatScores::balanced_accuracy},
    {"roc_auc", &RepeatScores::roc_auc},   {"log_loss", &RepeatScores::log_loss}};
constexpr NamedScore kNumberScores[] = {
    {"rmse", &RepeatScores::rmse}, {"mae", &RepeatScores::mae}, {"r2", &RepeatScores::r2}};

// The columns of the scores, one row per element of `rows`.
void add_scores(const std::vector<const std::vector<RepeatScores>*>& rows, bool classes, std::vector<Column>& columns) {
  const auto names = classes ? std::vector<NamedScore>(std::begin(kClassScores), std::end(kClassScores))
                             : std::vector<NamedScore>(std::begin(kNumberScores), std::end(kNumberScores));
  const auto add = [&](const std::string& name, Score score, double Spread::* part) {
    Numbers numbers;
    numbers.reserve(rows.size());
    for (const auto* repeats : rows) numbers.push_back(spread(*repeats, score).*part);
    columns.push_back(make_numeric(name, numbers));
  };
  for (const NamedScore& one : names) add(one.name, one.score, &Spread::mean);
  if (rows.front()->size() < 2) return;
  for (const NamedScore& one : names) add(std::string(one.name) + "_std", one.score, &Spread::deviation);
}

Table of_columns(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns.front().size();
  table.columns = std::move(columns);
  return table;
}

EvaluationGrid grid_of(const Table& table, const EvaluateJob& job, Confidences confidences, const RunOptions& run) {
  EvaluateOptions options = job.knn_options();
  options.confidences = confidences;
  return evaluate_grid(table, options, job.all_metrics(), job.all_normalizations(), run);
}

Table knn_scores(const Table& table, const EvaluateJob& job, const RunOptions& run) {
  const EvaluationGrid grid = grid_of(table, job, affordable_confidences(table, std::ssize(job.ks)), run);
  TextColumn metric, normalize;
  Numbers k;
  std::vector<const std::vector<RepeatScores>*> rows;
  for (const EvaluationOfMeasure& cell : grid.cells) {
    for (const EvaluationOfK& of_k : cell.evaluation.of_k) {
      metric.add(cell.metric.name);
      normalize.add(std::string(to_string(cell.normalize.method)));
      k.push_back(static_cast<double>(of_k.k));
      rows.push_back(&of_k.repeats);
    }
  }
  std::vector<Column> columns;
  if (job.all_metrics().size() > 1) columns.push_back(std::move(metric).column("metric"));
  if (job.all_normalizations().size() > 1) columns.push_back(std::move(normalize).column("normalize"));
  columns.push_back(make_numeric("k", k, ValueType::integer));
  add_scores(rows, grid.cells.front().evaluation.label_is_nominal, columns);
  return of_columns(std::move(columns));
}

Table tree_scores(const Table& table, const EvaluateJob& job, const RunOptions& run) {
  TreeEvaluationOptions options = job.tree_options();
  options.confidences = affordable_confidences(table, 1);
  const TreeEvaluation evaluation = evaluate_tree(table, options, run);
  std::vector<Column> columns;
  add_scores({&evaluation.repeats}, true, columns);
  columns.push_back(make_numeric("mean_leaves", {evaluation.mean_leaves}));
  return of_columns(std::move(columns));
}

Table lsq_scores(const Table& table, const EvaluateJob& job, const RunOptions& run) {
  const LsqEvaluation evaluation = evaluate_lsq(table, job.lsq_options(), run);
  std::vector<Column> columns;
  add_scores({&evaluation.repeats}, false, columns);
  return of_columns(std::move(columns));
}

// Cells of confusion matrices, one after the other.
class ConfusionTable {
 public:
  void add(std::int64_t k, const ClassificationScores& scores) {
    for (const ConfusionCell& cell : scores.confusion) {
      k_.push_back(static_cast<double>(k));
      truth_.add(scores.classes[cell.truth]);
      cell.predicted == kMissingCode ? prediction_.add_missing() : prediction_.add(scores.classes[cell.predicted]);
      count_.push_back(static_cast<double>(cell.n_rows));
    }
  }
  Table table(bool with_k) && {
    std::vector<Column> columns;
    if (with_k) columns.push_back(make_numeric("k", k_, ValueType::integer));
    columns.push_back(std::move(truth_).column("truth"));
    columns.push_back(std::move(prediction_).column("prediction"));
    columns.push_back(make_numeric("count", count_, ValueType::integer));
    return of_columns(std::move(columns));
  }

 private:
  TextColumn truth_, prediction_;
  Numbers k_, count_;
};

}  // namespace

Table evaluation(const Table& table, const NamedOptions& options, const RunOptions& run) {
  const auto job = read_options<EvaluateJob>(options, "evaluate");
  job.check();
  if (job.model == "tree") return tree_scores(table, job, run);
  return job.model == "lsq" ? lsq_scores(table, job, run) : knn_scores(table, job, run);
}

Table confusion(const Table& table, const NamedOptions& options, const RunOptions& run) {
  const auto job = read_options<EvaluateJob>(options, "confusion");
  job.check();
  const Column* const label = label_of(table);
  if ((label != nullptr && !label->nominal()) || job.model == "lsq") {
    throw Error(ErrorCode::invalid_argument,
                label == nullptr || label->nominal()
                    ? "confusion needs a model that gives classes, and lsq gives numbers"
                    : "confusion needs a label of classes, and '" + label->name + "' has numbers",
                {.option = label == nullptr || label->nominal() ? "model" : "target"});
  }
  if (job.metrics.size() > 1 || job.normalizations.size() > 1) {
    throw Error(ErrorCode::invalid_argument, "confusion takes one measure and one normalisation",
                {.option = job.metrics.size() > 1 ? "metrics" : "normalizations"});
  }
  ConfusionTable cells;
  if (job.model == "tree") {
    cells.add(0, evaluate_tree(table, job.tree_options(), run).scores);
    return std::move(cells).table(false);
  }
  const EvaluationGrid grid = grid_of(table, job, Confidences::none, run);
  for (const EvaluationOfK& one : grid.cells.front().evaluation.of_k) cells.add(one.k, one.classification);
  return std::move(cells).table(true);
}

}  // namespace stope::jobs
