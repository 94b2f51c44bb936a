// Scores of predictions against known labels: the confusion matrix and its scores, RMSE, MAE, R2.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "base/reduce.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void check_same_length(std::size_t truth, std::size_t predicted) {
  if (truth == predicted) return;
  throw Error(ErrorCode::invalid_argument, std::to_string(truth) + " true labels and " + std::to_string(predicted) +
                                               " predictions: the numbers differ");
}

void check_code(std::int32_t code, std::int64_t n_classes, std::size_t row) {
  if (code == kMissingCode || (code >= 0 && code < n_classes)) return;
  throw Error(ErrorCode::invalid_argument, "row " + std::to_string(row) + ": class code " + std::to_string(code) +
                                               " is outside the " + std::to_string(n_classes) + " classes");
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Cohen's kappa from the number of agreements and the marginal counts.
double cohen_kappa(std::int64_t n_rows, std::int64_t agreements, const std::vector<std::int64_t>& truths,
                   const std::vector<std::int64_t>& predictions) {
  const auto n = static_cast<double>(n_rows);
  double by_chance = 0.0;
  for (std::size_t c = 0; c < truths.size(); ++c) {
    // The integers decide this: with one class alone on both sides there is nothing to agree about.
    if (truths[c] == n_rows && predictions[c] == n_rows) return kNaN;
    by_chance += static_cast<double>(truths[c]) / n * (static_cast<double>(predictions[c]) / n);
  }
  return (static_cast<double>(agreements) / n - by_chance) / (1.0 - by_chance);
}

}  // namespace

ClassificationScores score_classification(const std::vector<std::string>& classes,
                                          const std::vector<std::int32_t>& truth,
                                          const std::vector<std::int32_t>& predicted) {
  check_same_length(truth.size(), predicted.size());
  const std::size_t n_classes = classes.size();
  const std::size_t width = n_classes + 1;
  ClassificationScores scores;
  scores.classes = classes;
  scores.confusion.assign(
      static_cast<std::size_t>(checked::mul(static_cast<std::int64_t>(n_classes), static_cast<std::int64_t>(width))),
      0);
  for (std::size_t row = 0; row < truth.size(); ++row) {
    check_code(truth[row], static_cast<std::int64_t>(n_classes), row);
    check_code(predicted[row], static_cast<std::int64_t>(n_classes), row);
    if (truth[row] == kMissingCode) continue;
    const std::size_t column = predicted[row] == kMissingCode ? n_classes : static_cast<std::size_t>(predicted[row]);
    ++scores.confusion[static_cast<std::size_t>(truth[row]) * width + column];
    ++scores.n_rows;
  }

  std::vector<std::int64_t> predictions(n_classes, 0);
  scores.support.assign(n_classes, 0);
  for (std::size_t t = 0; t < n_classes; ++t) {
    for (std::size_t p = 0; p < width; ++p) {
      const std::int64_t count = scores.confusion[t * width + p];
      scores.support[t] += count;
      if (p < n_classes) predictions[p] += count;
    }
  }

  std::int64_t agreements = 0;
  std::int64_t n_occurring = 0;
  double sum_f1 = 0.0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const std::int64_t hits = scores.confusion[c * width + c];
    agreements += hits;
    scores.precision.push_back(ratio(hits, predictions[c]));
    scores.recall.push_back(ratio(hits, scores.support[c]));
    scores.f1.push_back(ratio(2 * hits, predictions[c] + scores.support[c]));
    if (predictions[c] + scores.support[c] == 0) continue;
    ++n_occurring;
    sum_f1 += scores.f1.back();
  }
  if (scores.n_rows == 0) {
    scores.accuracy = scores.kappa = scores.macro_f1 = kNaN;
    return scores;
  }
  scores.accuracy = ratio(agreements, scores.n_rows);
  scores.kappa = cohen_kappa(scores.n_rows, agreements, scores.support, predictions);
  scores.macro_f1 = sum_f1 / static_cast<double>(n_occurring);
  return scores;
}

RegressionScores score_regression(const std::vector<double>& truth, const std::vector<double>& predicted) {
  check_same_length(truth.size(), predicted.size());
  std::vector<double> known, squares, magnitudes;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    if (std::isnan(truth[row])) continue;
    const double error = truth[row] - predicted[row];
    known.push_back(truth[row]);
    squares.push_back(error * error);
    magnitudes.push_back(std::abs(error));
  }
  RegressionScores scores;
  scores.n_rows = static_cast<std::int64_t>(known.size());
  if (known.empty()) {
    scores.rmse = scores.mae = scores.r2 = kNaN;
    return scores;
  }
  const auto n = static_cast<double>(known.size());
  const double residual = pairwise_sum(squares);
  scores.rmse = std::sqrt(residual / n);
  scores.mae = pairwise_sum(magnitudes) / n;
  if (known.size() < 2 || std::isnan(residual)) {
    scores.r2 = kNaN;
    return scores;
  }
  // The arithmetic cannot decide this: the mean of n equal numbers need not be that number.
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  if (*low == *high) {
    scores.r2 = residual == 0.0 ? 1.0 : 0.0;
    return scores;
  }
  const double mean = pairwise_sum(known) / n;
  for (double& v : known) v = (v - mean) * (v - mean);
  scores.r2 = 1.0 - residual / pairwise_sum(known);
  return scores;
}

}  // namespace stope
