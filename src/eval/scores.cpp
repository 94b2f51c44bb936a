// Scores of predictions against known labels: the confusion matrix and its scores, RMSE, MAE, R2.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "base/reduce.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/warning.hpp"
#include "table/check_table.hpp"

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
  throw Error(ErrorCode::invalid_argument,
              "row " + std::to_string(row) + ": class code " + std::to_string(code) + " is outside the " +
                  std::to_string(n_classes) + " classes",
              {.row = static_cast<std::int64_t>(row)});
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

// Squares of huge numbers overflow and those of tiny ones vanish, so both are brought near 1. A power of two rounds
// nothing; 1 where numbers are of usual size or not finite.
double scale_of(const std::vector<double>& truth, const std::vector<double>& predicted) {
  double largest = 0.0;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    if (std::isnan(truth[row])) continue;
    if (!std::isfinite(truth[row]) || !std::isfinite(predicted[row])) return 1.0;
    largest = std::max({largest, std::abs(truth[row]), std::abs(predicted[row])});
  }
  // 2^60 squared differences of numbers below 2^480 have a finite sum.
  if (largest == 0.0 || (largest >= 0x1p-400 && largest <= 0x1p+480)) return 1.0;
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
}

bool has_counter_per_pair(std::size_t n_classes) {
  return n_classes <= 64;
}

// Counts pairs of classes. Few classes have a counter for every pair; else the rows' pairs are sorted, which takes no
// more memory than the rows.
std::vector<ConfusionCell> confusion_of(std::size_t n_classes, const std::vector<std::int32_t>& truth,
                                        const std::vector<std::int32_t>& predicted) {
  std::vector<ConfusionCell> cells;
  if (has_counter_per_pair(n_classes)) {
    const std::size_t width = n_classes + 1;
    std::vector<std::int64_t> counts(n_classes * width);
    for (std::size_t row = 0; row < truth.size(); ++row) {
      if (truth[row] == kMissingCode) continue;
      const std::size_t column = predicted[row] == kMissingCode ? n_classes : static_cast<std::size_t>(predicted[row]);
      ++counts[static_cast<std::size_t>(truth[row]) * width + column];
    }
    for (std::size_t at = 0; at < counts.size(); ++at) {
      if (counts[at] == 0) continue;
      const std::size_t column = at % width;
      cells.push_back({static_cast<std::int32_t>(at / width),
                       column == n_classes ? kMissingCode : static_cast<std::int32_t>(column), counts[at]});
    }
    return cells;
  }
  std::vector<std::uint64_t> pairs;  // a missing prediction, -1, is the largest of 32 bits
  pairs.reserve(truth.size());
  for (std::size_t row = 0; row < truth.size(); ++row) {
    if (truth[row] == kMissingCode) continue;
    pairs.push_back(std::uint64_t{static_cast<std::uint32_t>(truth[row])} << 32 |
                    static_cast<std::uint32_t>(predicted[row]));
  }
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t at = 0; at < pairs.size();) {
    std::size_t end = at + 1;
    while (end < pairs.size() && pairs[end] == pairs[at]) ++end;
    cells.push_back({static_cast<std::int32_t>(pairs[at] >> 32), static_cast<std::int32_t>(pairs[at]),
                     static_cast<std::int64_t>(end - at)});
    at = end;
  }
  return cells;
}

}  // namespace

std::vector<std::int64_t> ClassificationScores::confusion_matrix() const try {
  const auto n_classes = static_cast<std::int64_t>(classes.size());
  std::vector<std::int64_t> matrix(static_cast<std::size_t>(checked::mul(n_classes, n_classes + 1)));
  for (const ConfusionCell& cell : confusion) {
    const std::int64_t column = cell.predicted == kMissingCode ? n_classes : cell.predicted;
    matrix[static_cast<std::size_t>(cell.truth * (n_classes + 1) + column)] = cell.n_rows;
  }
  return matrix;
} catch (...) {
  rethrow_as_error();
}

std::int64_t score_bytes_per_row(const Values& classes) noexcept {
  return has_counter_per_pair(classes.size()) ? 0 : sizeof(std::uint64_t) + sizeof(ConfusionCell);
}

ClassificationScores score_classification(const Values& classes, const std::vector<std::int32_t>& truth,
                                          const std::vector<std::int32_t>& predicted) try {
  check_same_length(truth.size(), predicted.size());
  const std::size_t n_classes = classes.size();
  for (std::size_t row = 0; row < truth.size(); ++row) {
    check_code(truth[row], static_cast<std::int64_t>(n_classes), row);
    check_code(predicted[row], static_cast<std::int64_t>(n_classes), row);
  }
  ClassificationScores scores;
  scores.classes = classes;
  scores.confusion = confusion_of(n_classes, truth, predicted);

  std::vector<std::int64_t> predictions(n_classes, 0), hits(n_classes, 0);
  scores.support.assign(n_classes, 0);
  for (const ConfusionCell& cell : scores.confusion) {
    scores.n_rows += cell.n_rows;
    scores.support[static_cast<std::size_t>(cell.truth)] += cell.n_rows;
    if (cell.predicted == kMissingCode) continue;
    predictions[static_cast<std::size_t>(cell.predicted)] += cell.n_rows;
    if (cell.truth == cell.predicted) hits[static_cast<std::size_t>(cell.truth)] = cell.n_rows;
  }

  std::int64_t agreements = 0;
  std::int64_t n_occurring = 0;
  double sum_f1 = 0.0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    agreements += hits[c];
    scores.precision.push_back(ratio(hits[c], predictions[c]));
    scores.recall.push_back(ratio(hits[c], scores.support[c]));
    scores.f1.push_back(ratio(2 * hits[c], predictions[c] + scores.support[c]));
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
} catch (...) {
  rethrow_as_error();
}

RegressionScores score_regression(const std::vector<double>& truth, const std::vector<double>& predicted) try {
  check_same_length(truth.size(), predicted.size());
  const double scale = scale_of(truth, predicted);
  std::vector<double> known, squares, magnitudes;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    if (std::isnan(truth[row])) continue;
    const double value = truth[row] * scale, error = value - predicted[row] * scale;
    known.push_back(value);
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
  scores.rmse = std::sqrt(residual / n) / scale;
  scores.mae = pairwise_sum(magnitudes) / n / scale;
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
} catch (...) {
  rethrow_as_error();
}

namespace {

// Warns of rows whose class is behind the `n_known` ones that a prediction can name.
void warn_of_unknown_labels(const ClassificationScores& scores, std::size_t n_known, const RunOptions& run) {
  constexpr std::size_t kNamesShown = 3;
  std::int64_t n_rows = 0;
  std::string names;
  for (std::size_t c = n_known; c < scores.classes.size(); ++c) {
    n_rows += scores.support[c];
    if (c < n_known + kNamesShown) {
      names += (names.empty() ? "'" : ", '") + scores.classes[static_cast<std::int64_t>(c)] + "'";
    }
    if (c == n_known + kNamesShown) names += ", ...";
  }
  if (n_rows == 0 || !run.warn) return;
  run.warn(warning::kUnknownLabels, std::to_string(n_rows) + " of " + counted(scores.n_rows, "row") +
                                        " with a label that training does not know, counted as wrong: " + names);
}

}  // namespace

ClassificationScores score_against(const Column& label, const Classification& predicted, const RunOptions& run) try {
  if (!label.nominal()) {
    throw Error(ErrorCode::invalid_argument, "classes cannot be scored against the numeric column '" + label.name + "'",
                {.feature = label.name});
  }
  check_same_length(static_cast<std::size_t>(label.size()), predicted.codes.size());
  check_shape({{label}, label.size(), {}});
  check_codes(label);
  // Names that no prediction has follow those of the predictions, in the order of the rows.
  std::vector<std::int32_t> code_of(label.values.size());
  for (std::size_t i = 0; i < code_of.size(); ++i) {
    code_of[i] = predicted.classes.code_of(label.values[static_cast<std::int64_t>(i)]);
  }
  std::vector<std::string> classes = predicted.classes.names();
  std::unordered_map<std::string_view, std::int32_t> unknown;  // names that no prediction has, with their codes
  std::vector<std::int32_t> truth(predicted.codes.size(), kMissingCode);
  for (std::size_t row = 0; row < truth.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    if (label.missing(at)) continue;
    std::int32_t& code = code_of[static_cast<std::size_t>(label.codes()[at])];
    if (code == kUnseenCode) {
      const std::string& name = label.values[label.codes()[at]];
      const auto [known, fresh] = unknown.try_emplace(name, static_cast<std::int32_t>(classes.size()));
      code = known->second;
      if (fresh) classes.push_back(name);
    }
    truth[row] = code;
  }
  ClassificationScores scores = score_classification(classes, truth, predicted.codes);
  warn_of_unknown_labels(scores, predicted.classes.size(), run);
  return scores;
} catch (...) {
  rethrow_as_error();
}

RegressionScores score_against(const Column& label, const std::vector<double>& predicted) try {
  if (label.nominal()) {
    throw Error(ErrorCode::invalid_argument, "numbers cannot be scored against the nominal column '" + label.name + "'",
                {.feature = label.name});
  }
  check_shape({{label}, label.size(), {}});
  std::vector<double> truth(static_cast<std::size_t>(label.size()));
  for (std::size_t row = 0; row < truth.size(); ++row) truth[row] = label.at(static_cast<std::int64_t>(row));
  return score_regression(truth, predicted);
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
