#include "page/parts/neighbors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "page/command_line.hpp"
#include "page/curve.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr double kZ = 1.959963984540054;  // of 95 %

std::string scheme_words(const EvaluateOptions& options) {
  switch (options.scheme) {
    case Scheme::leave_one_out: return "leave-one-out: every row is predicted from all others";
    case Scheme::holdout:
      return fmt::format("a hold-out of {} of the rows, seed {}", percent(options.holdout), options.seed);
    case Scheme::cross_validation: break;
  }
  const std::string text = fmt::format("{}-fold cross-validation, seed {}", options.n_folds, options.seed);
  return options.n_repeats > 1 ? fmt::format("{}, repeated {} times", text, options.n_repeats) : text;
}

std::string normalization_words(const EvaluateOptions& options) {
  switch (options.normalize.method) {
    case Normalization::none: return "Numbers are compared as they are.";
    case Normalization::z: return "Each numeric column is first shifted and scaled to mean 0 and deviation 1.";
    case Normalization::range: return "Each numeric column is first scaled to the range from 0 to 1.";
    default: return fmt::format("Numeric columns are first normalised ({}).", to_string(options.normalize.method));
  }
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Mean and 95 % interval of folds: they are few, so their spread is a rough guide, and the page says so.
Interval spread(const std::vector<double>& folds, double value) {
  if (folds.size() < 2) return {value, value};
  const double mean = mean_of(folds);
  double sum = 0;
  for (const double fold : folds) sum += (fold - mean) * (fold - mean);
  const double deviation = std::sqrt(sum / static_cast<double>(folds.size() - 1));
  return {value - deviation, value + deviation};
}

// The best k has the best mean over the repetitions, so these means are shown.
double mean_of(const std::vector<RepeatScores>& repeats, double RepeatScores::* score) {
  return stope::spread(repeats, score).mean;
}

CurvePoint point_of(const NeighborsFound& found, const EvaluationOfK& of_k) {
  if (found.evaluation.label_is_nominal) {
    const double accuracy = of_k.classification.accuracy;
    const Interval interval = wilson(accuracy, of_k.classification.n_rows / found.options.n_repeats);
    return {std::to_string(of_k.k), accuracy, interval.low, interval.high};
  }
  const double rmse = mean_of(of_k.repeats, &RepeatScores::rmse);
  const Interval interval = spread(of_k.fold_scores, rmse);
  return {std::to_string(of_k.k), rmse, std::max(0.0, interval.low), interval.high};
}

Curve curve_of(const NeighborsFound& found) {
  Curve curve;
  const bool nominal = found.evaluation.label_is_nominal;
  curve.points.reserve(found.evaluation.of_k.size());
  for (const EvaluationOfK& of_k : found.evaluation.of_k) curve.points.push_back(point_of(found, of_k));
  curve.best = found.evaluation.best;
  curve.x_name = "k, the number of neighbours";
  curve.y_name = nominal ? "rows predicted rightly" : "root mean square error";
  curve.shares = nominal;
  curve.has_level = true;
  curve.level = nominal ? found.majority : found.deviation;
  curve.level_name =
      nominal ? "always the largest class: " + percent(found.majority) : "always the mean: " + number(found.deviation);
  return curve;
}

struct ScoreColumn {
  const char* head;
  double RepeatScores::* score;
  std::string (*text)(double);
};

std::vector<ScoreColumn> columns_of(const NeighborsFound& found) {
  if (!found.evaluation.label_is_nominal)
    return {{"MAE", &RepeatScores::mae, number}, {"R²", &RepeatScores::r2, number}};
  std::vector<ScoreColumn> columns = {{"kappa", &RepeatScores::kappa, number},
                                      {"macro F1", &RepeatScores::macro_f1, number},
                                      {"balanced accuracy", &RepeatScores::balanced_accuracy, percent}};
  if (found.options.confidences == Confidences::none) return columns;
  columns.push_back({"ROC AUC", &RepeatScores::roc_auc, number});
  columns.push_back({"log loss", &RepeatScores::log_loss, number});
  return columns;
}

DataTable numbers_of(const NeighborsFound& found, const Curve& curve) {
  const bool nominal = found.evaluation.label_is_nominal;
  const std::vector<ScoreColumn> columns = columns_of(found);
  DataTable table{"Scores for each k", {"k"}, {Cell::number}, {}};
  for (const char* const head : nominal ? std::array{"accuracy", "95 % from", "95 % to"}
                                        : std::array{"RMSE", "less one deviation", "plus one deviation"}) {
    table.heads.emplace_back(head);
  }
  for (const ScoreColumn& column : columns) table.heads.emplace_back(column.head);
  table.cells.resize(table.heads.size(), Cell::number);
  table.rows.reserve(curve.points.size());
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& one = curve.points[i];
    const auto text = nominal ? percent : number;
    std::vector<std::string> row = {one.name, text(one.value), text(one.low), text(one.high)};
    for (const ScoreColumn& column : columns) {
      row.push_back(column.text(mean_of(found.evaluation.of_k[i].repeats, column.score)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string message_of(const NeighborsFound& found, const CurvePoint& best) {
  if (!found.evaluation.label_is_nominal) {
    if (!std::isfinite(best.value)) return "The label holds infinite values, so that no k has an error.";
    return fmt::format("With k = {} the error is smallest: {}, against {} for always answering with the mean.",
                       best.name, number(best.value), number(found.deviation));
  }
  return fmt::format(
      "With k = {} most rows are predicted rightly: {} (95 % interval {} to {}), against {} for always answering with "
      "the largest class, {}.",
      best.name, percent(best.value), percent(best.low), percent(best.high), percent(found.majority),
      in_quotes(found.majority_name));
}

}  // namespace

Interval wilson(double share, std::int64_t n_rows) {
  if (n_rows == 0 || std::isnan(share)) return {share, share};
  const double n = static_cast<double>(n_rows), z2 = kZ * kZ;
  const double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kZ / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  // Where every row is right, or none, the bound is 1 or 0, and rounding must not hide that.
  return {share <= 0 ? 0.0 : std::max(0.0, middle - half), share >= 1 ? 1.0 : std::min(1.0, middle + half)};
}

void compare_with(NeighborsFound& found, const Column& label) {
  found.n_rows = label.size();
  if (!label.nominal()) {
    std::vector<double> truth;
    truth.reserve(static_cast<std::size_t>(label.size()));
    for (std::int64_t row = 0; row < label.size(); ++row) truth.push_back(label.at(row));
    double mean = 0;
    for (const double value : truth) mean += value / static_cast<double>(truth.size());
    found.deviation = score_regression(truth, std::vector<double>(truth.size(), mean)).rmse;
    return;
  }
  std::vector<std::int64_t> counts(label.values.size(), 0);
  for (std::int64_t row = 0; row < label.size(); ++row) {
    if (!label.missing(row)) ++counts[static_cast<std::size_t>(label.codes()[row])];
  }
  const auto largest = std::max_element(counts.begin(), counts.end());
  if (largest == counts.end()) return;
  found.majority = static_cast<double>(*largest) / static_cast<double>(label.size());
  found.majority_name = label.values[largest - counts.begin()];
}

void write_neighbors(Markup& out, const NeighborsFound& found) {
  const Curve curve = curve_of(found);
  const CurvePoint& best = curve.points[curve.best];
  const std::string message = message_of(found, best);
  out.element("p", message);
  out.element("p", {{"class", "soft small"}},
              "Measured on " + found.rows + " by " + scheme_words(found.options) +
                  ". Distance: " + found.options.knn.metric.name + ". " + normalization_words(found.options));
  std::string caption = found.evaluation.label_is_nominal
                            ? "Share of rows predicted rightly for each k. The band is Wilson's 95 % interval."
                            : "Error for each k.";
  if (!found.evaluation.label_is_nominal && !found.evaluation.of_k.front().fold_scores.empty()) {
    caption += " The band is one standard deviation of the folds, which are few: a rough guide.";
  }
  if (curve.points.size() > 1) caption += " The ring marks the best k.";
  if (curve.points.size() > 1) caption += " The best k was chosen by the same rows, so it flatters itself a little.";
  write_curve(out,
              {"k-curve",
               found.evaluation.label_is_nominal ? "Accuracy over k" : "Error over k",
               message,
               caption,
               {},
               Narrow::scroll},
              curve, numbers_of(found, curve));
  write_command(out, found.command);
}

}  // namespace stope::cli::page
