// ROC AUC and log loss of confidences, and balanced accuracy (stope/scores.hpp).
#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.hpp"
#include "base/exact_math.hpp"
#include "base/guarded.hpp"
#include "base/reduce.hpp"
#include "base/thread_pool.hpp"
#include "stope/error.hpp"
#include "stope/scores.hpp"

namespace stope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kThreadsPay = std::int64_t{1} << 16;  // confidences: sorting them takes about a millisecond

// The rows that count, in order.
struct Counted {
  std::vector<std::int64_t> rows;
  std::vector<std::int32_t> truth;
};

// A row that nobody voted for has NaN as every confidence, and one that a tree drops has 0.
bool has_confidences(std::span<const double> row) {
  bool any = false;
  for (const double confidence : row) {
    if (std::isnan(confidence)) return false;
    any = any || confidence != 0.0;
  }
  return any;
}

Counted counted_rows(std::int64_t n_classes, const std::vector<std::int32_t>& truth,
                     std::span<const double> confidences) {
  Counted counted;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    const std::int32_t code = truth[row];
    if (code != kMissingCode && (code < 0 || code >= n_classes)) {
      throw Error(ErrorCode::invalid_argument,
                  "row " + std::to_string(row) + ": class code " + std::to_string(code) + " is outside the " +
                      std::to_string(n_classes) + " classes",
                  {.row = static_cast<std::int64_t>(row)});
    }
    const std::size_t width = static_cast<std::size_t>(n_classes);
    if (code == kMissingCode || !has_confidences(confidences.subspan(row * width, width))) continue;
    counted.rows.push_back(static_cast<std::int64_t>(row));
    counted.truth.push_back(code);
  }
  return counted;
}

// The area under the ROC curve of one class against the rest, by counting pairs: every row of the class and every other
// row is one, and a tie counts half. Integers count, so that one division is all that rounds. NaN without pairs.
double area(const Counted& counted, std::span<const double> confidences, std::int64_t n_classes, std::int32_t of) {
  struct Row {
    double confidence;
    bool positive;
  };
  std::vector<Row> rows;
  rows.reserve(counted.rows.size());
  std::int64_t n_positive = 0;
  for (std::size_t i = 0; i < counted.rows.size(); ++i) {
    const bool positive = counted.truth[i] == of;
    n_positive += positive ? 1 : 0;
    rows.push_back({confidences[static_cast<std::size_t>(counted.rows[i] * n_classes + of)], positive});
  }
  const std::int64_t n_negative = std::ssize(rows) - n_positive;
  if (n_positive == 0 || n_negative == 0) return kNaN;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.confidence < b.confidence; });
  std::int64_t halves = 0, negatives_below = 0;  // halves: pairs in the right order twice, ties once
  for (std::size_t at = 0; at < rows.size();) {
    std::int64_t positives = 0, negatives = 0;
    const double confidence = rows[at].confidence;
    for (; at < rows.size() && rows[at].confidence == confidence; ++at)
      (rows[at].positive ? positives : negatives) += 1;
    halves = checked::add(halves, checked::mul(positives, checked::add(2 * negatives_below, negatives)));
    negatives_below += negatives;
  }
  return static_cast<double>(halves) / (2.0 * static_cast<double>(checked::mul(n_positive, n_negative)));
}

double roc_auc(const Counted& counted, std::span<const double> confidences, std::int64_t n_classes,
               const RunOptions& run) {
  if (n_classes < 2) return kNaN;
  if (n_classes == 2) return area(counted, confidences, n_classes, 1);
  std::vector<double> areas(static_cast<std::size_t>(n_classes));
  const std::int64_t work = checked::mul(std::ssize(counted.rows), n_classes);
  ThreadPool pool(work > kThreadsPay ? run.threads : 1);
  pool.parallel_for(n_classes, run.cancel, [&](std::int64_t c, int) {
    areas[static_cast<std::size_t>(c)] = area(counted, confidences, n_classes, static_cast<std::int32_t>(c));
  });
  std::erase_if(areas, [](double value) { return std::isnan(value); });
  return areas.empty() ? kNaN : pairwise_sum(areas) / static_cast<double>(areas.size());
}

double log_loss(const Counted& counted, std::span<const double> confidences, std::int64_t n_classes) {
  constexpr double kLeast = std::numeric_limits<double>::epsilon();
  if (counted.rows.empty()) return kNaN;
  std::vector<double> losses;
  losses.reserve(counted.rows.size());
  for (std::size_t i = 0; i < counted.rows.size(); ++i) {
    const double confidence = confidences[static_cast<std::size_t>(counted.rows[i] * n_classes + counted.truth[i])];
    losses.push_back(-math::log(std::clamp(confidence, kLeast, 1.0 - kLeast)));
  }
  return pairwise_sum(losses) / static_cast<double>(losses.size());
}

}  // namespace

double balanced_accuracy(const ClassificationScores& scores) try {
  std::vector<double> recalls;
  for (std::size_t c = 0; c < scores.support.size(); ++c) {
    if (scores.support[c] > 0) recalls.push_back(scores.recall[c]);
  }
  return recalls.empty() ? kNaN : pairwise_sum(recalls) / static_cast<double>(recalls.size());
} catch (...) {
  rethrow_as_error();
}

ProbabilityScores score_probabilities(const Values& classes, const std::vector<std::int32_t>& truth,
                                      std::span<const double> confidences, const RunOptions& run) try {
  const auto n_classes = static_cast<std::int64_t>(classes.size());
  const std::int64_t wanted = checked::mul(std::ssize(truth), n_classes);
  if (std::ssize(confidences) != wanted) {
    throw Error(ErrorCode::invalid_argument, std::to_string(confidences.size()) + " confidences for " +
                                                 std::to_string(truth.size()) + " rows and " +
                                                 std::to_string(n_classes) + " classes");
  }
  const Counted counted = counted_rows(n_classes, truth, confidences);
  ProbabilityScores scores;
  scores.n_rows = std::ssize(counted.rows);
  scores.roc_auc = roc_auc(counted, confidences, n_classes, run);
  scores.log_loss = log_loss(counted, confidences, n_classes);
  return scores;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
