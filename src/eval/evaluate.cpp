// evaluate(): k-NN models of one table, fitted and tested by cross-validation, hold-out or leave-one-out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "eval/folds.hpp"
#include "knn/range_warning.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/neighbors_model.hpp"
#include "table/column_error.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

// Predictions of every k for all rows of the table, filled fold by fold. Only one of the two members is used.
struct Predictions {
  std::vector<std::vector<std::int32_t>> codes;
  std::vector<std::vector<double>> numbers;
};

const Column& label_of(const Table& table) {
  const std::int64_t at = table.find(Role::label);
  if (at < 0) {
    throw Error(ErrorCode::invalid_argument, "evaluation needs a label, but the table has none",
                {.file = table.source, .option = "target"});
  }
  return table.columns[static_cast<std::size_t>(at)];
}

void check_label_present(const Table& table, const Column& label) {
  for (std::int64_t row = 0; row < label.size(); ++row) {
    if (!label.missing(row)) continue;
    throw column_error(ErrorCode::invalid_data, table, label, ": the label is missing; remove such rows", row);
  }
}

void check_ks(const EvaluateOptions& options, std::int64_t smallest_training_part) {
  if (options.ks.empty()) throw Error(ErrorCode::invalid_argument, "no k to evaluate", {.option = "ks"});
  for (const std::int64_t k : options.ks) {
    if (k < 1)
      throw Error(ErrorCode::invalid_argument, "k = " + std::to_string(k) + " is not positive", {.option = "ks"});
    if (k > smallest_training_part && options.knn.compat == Compat::none) {
      throw Error(ErrorCode::invalid_argument,
                  "k = " + std::to_string(k) + " exceeds the " + std::to_string(smallest_training_part) +
                      " training rows that a test row has in this evaluation",
                  {.option = "ks"});
    }
  }
}

// The test rows of every fold. Numeric labels have no classes to balance.
std::vector<std::vector<std::int64_t>> test_rows(const Table& table, const Column& label,
                                                 const EvaluateOptions& options) {
  std::vector<std::int32_t> classes;
  if (label.nominal()) classes.assign(label.codes().begin(), label.codes().end());
  if (options.scheme == Scheme::holdout) {
    return {holdout_rows(table.n_rows, options.holdout, options.seed, classes)};
  }
  return cross_validation_folds(table.n_rows, options.n_folds, options.seed, classes);
}

// Throws out_of_memory if predictions and scores of every k exceed the memory limit.
void require_room_for_scores(const Column& label, std::int64_t n_ks, const RunOptions& run) {
  const std::int64_t n_rows = label.size(), n_classes = label.nominal() ? std::ssize(label.values.names()) : 0;
  constexpr std::int64_t kRowBytes = sizeof(double) + sizeof(ConfusionCell);
  constexpr std::int64_t kClassBytes = 3 * sizeof(double) + sizeof(std::int64_t);
  const std::int64_t bytes = checked::add(checked::mul(n_rows, kRowBytes), checked::mul(n_classes, kClassBytes));
  require_memory("predictions and scores of " + std::to_string(n_rows) + " rows and " + std::to_string(n_classes) +
                     " classes, for each k, need",
                 checked::mul(bytes, n_ks), run, {.option = "ks"});
}

// Where the splits of the table go, and what they and their normalised copy leave of the memory budget.
struct Splits {
  Storage storage;
  RunOptions run;
};

Splits plan_splits(const Table& table, const EvaluateOptions& options, const RunOptions& run) {
  const std::int64_t splits = options.scheme == Scheme::leave_one_out ? 0 : 1;
  const std::int64_t normalised = options.normalize.method == Normalization::none ? 0 : 1;
  // A float32 or nominal column can at most double when it is normalised to float64.
  const std::int64_t bytes = checked::mul(table.bytes(), splits + 2 * normalised);
  const std::int64_t budget = memory_budget(run);
  Splits plan{storage_within(bytes, budget), run};
  if (plan.storage == Storage::memory) plan.run.memory_limit = budget - bytes;
  return plan;
}

void accumulate(SearchReport& total, const SearchReport& fold, std::size_t index) {
  if (index == 0) {
    total = fold;
    return;
  }
  for (const auto count : {&SearchReport::pairs, &SearchReport::scanned, &SearchReport::skipped, &SearchReport::listed,
                           &SearchReport::evaluated, &SearchReport::uncertified}) {
    total.*count = checked::add(total.*count, fold.*count);
  }
  total.seconds += fold.seconds;
  total.memory_planned = std::max(total.memory_planned, fold.memory_planned);
  total.threads = std::max(total.threads, fold.threads);
}

// Predicts `test`; for every k, prediction i belongs to table row rows[i].
SearchReport predict_fold(const NeighborsModel& model, const Table& test, const std::vector<std::int64_t>& rows,
                          const std::vector<std::int64_t>& ks, const VoteOptions& vote, const RunOptions& run,
                          Predictions& predictions) {
  SearchReport report;
  const auto scatter = [&](const auto& from, auto& to) {
    for (std::size_t i = 0; i < rows.size(); ++i) to[static_cast<std::size_t>(rows[i])] = from[i];
  };
  if (model.classifies()) {
    const auto results = KnnClassifier::fit(model.train, model.options, run).predict_each(test, ks, vote, run, &report);
    for (std::size_t i = 0; i < results.size(); ++i) scatter(results[i].codes, predictions.codes[i]);
  } else {
    const auto results = KnnRegressor::fit(model.train, model.options, run).predict_each(test, ks, vote, run, &report);
    for (std::size_t i = 0; i < results.size(); ++i) scatter(results[i], predictions.numbers[i]);
  }
  return report;
}

template <class T>
std::vector<T> select(const std::vector<T>& values, const std::vector<std::int64_t>& rows) {
  std::vector<T> selected;
  selected.reserve(rows.size());
  for (const std::int64_t row : rows) selected.push_back(values[static_cast<std::size_t>(row)]);
  return selected;
}

double score_fold(const std::vector<std::int32_t>& truth, const std::vector<std::int32_t>& predicted) {
  std::int64_t n_rows = 0, right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == kMissingCode) continue;
    ++n_rows;
    right += truth[i] == predicted[i] ? 1 : 0;
  }
  return n_rows == 0 ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(right) / static_cast<double>(n_rows);
}

double score_fold(const std::vector<double>& truth, const std::vector<double>& predicted) {
  return score_regression(truth, predicted).rmse;
}

// Scores all test rows together, and each fold by itself where there are folds.
std::vector<EvaluationOfK> score_each(const Column& label, const EvaluateOptions& options,
                                      const std::vector<std::vector<std::int64_t>>& folds,
                                      const Predictions& predictions) {
  std::vector<std::int64_t> tested;
  for (const auto& fold : folds) tested.insert(tested.end(), fold.begin(), fold.end());
  std::sort(tested.begin(), tested.end());

  std::vector<EvaluationOfK> of_k(options.ks.size());
  const auto score = [&](const auto& truth, const auto& predicted_of_k, auto&& score_rows) {
    for (std::size_t i = 0; i < of_k.size(); ++i) {
      of_k[i].k = options.ks[i];
      score_rows(of_k[i], select(truth, tested), select(predicted_of_k[i], tested));
      if (options.scheme == Scheme::leave_one_out) continue;
      for (const auto& fold : folds) {
        of_k[i].fold_scores.push_back(score_fold(select(truth, fold), select(predicted_of_k[i], fold)));
      }
    }
  };
  if (label.nominal()) {
    const std::vector<std::int32_t> truth(label.codes().begin(), label.codes().end());
    score(truth, predictions.codes, [&](EvaluationOfK& result, const auto& known, const auto& predicted) {
      result.classification = score_classification(label.values, known, predicted);
    });
  } else {
    std::vector<double> truth(static_cast<std::size_t>(label.size()));
    for (std::int64_t row = 0; row < label.size(); ++row) truth[static_cast<std::size_t>(row)] = label.at(row);
    score(truth, predictions.numbers, [&](EvaluationOfK& result, const auto& known, const auto& predicted) {
      result.regression = score_regression(known, predicted);
    });
  }
  return of_k;
}

std::size_t best_of(const std::vector<EvaluationOfK>& of_k, bool label_is_nominal) {
  // Smaller is better; NaN is worst.
  const auto loss = [&](const EvaluationOfK& result) {
    const double value = label_is_nominal ? -result.classification.accuracy : result.regression.rmse;
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < of_k.size(); ++i) {
    if (std::pair(loss(of_k[i]), of_k[i].k) < std::pair(loss(of_k[best]), of_k[best].k)) best = i;
  }
  return best;
}

}  // namespace

Evaluation evaluate(const Table& table, const EvaluateOptions& options, const RunOptions& run) try {
  table.validate();
  const Column& label = label_of(table);
  const bool leave_one_out = options.scheme == Scheme::leave_one_out;
  if (!leave_one_out && !options.exclude_group.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "excluding the group '" + options.exclude_group + "' needs leave-one-out evaluation",
                {.option = "exclude_group"});
  }
  if (options.knn.compat == Compat::none) check_label_present(table, label);

  std::vector<std::vector<std::int64_t>> folds;
  if (leave_one_out) {
    if (table.n_rows < 2) {
      throw Error(ErrorCode::invalid_argument,
                  "leave-one-out needs at least 2 rows, there are " + std::to_string(table.n_rows),
                  {.option = "scheme"});
    }
    check_ks(options, table.n_rows - 1);
    folds.push_back(complement({}, table.n_rows));
  } else {
    folds = test_rows(table, label, options);
    std::size_t largest = 0;
    for (const auto& fold : folds) largest = std::max(largest, fold.size());
    check_ks(options, table.n_rows - static_cast<std::int64_t>(largest));
  }

  require_room_for_scores(label, std::ssize(options.ks), run);
  const auto n = static_cast<std::size_t>(table.n_rows);
  Predictions predictions;
  if (label.nominal()) {
    predictions.codes.assign(options.ks.size(), std::vector<std::int32_t>(n, kMissingCode));
  } else {
    predictions.numbers.assign(options.ks.size(), std::vector<double>(n));
  }
  VoteOptions vote;
  vote.weights = options.weights;
  vote.confidences = Confidences::none;
  vote.exclude_self = leave_one_out;
  vote.exclude_group = options.exclude_group;

  const RunningJob running(run);
  Evaluation evaluation;
  evaluation.label_is_nominal = label.nominal();
  const Splits splits = plan_splits(table, options, run);
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    const RunOptions here = fold_run(splits.run, fold, folds.size());
    const NeighborsModel model =
        make_neighbors_model(leave_one_out ? table : table.take(complement(folds[fold], table.n_rows), splits.storage),
                             options.knn, options.normalize, {}, here);
    const Table test =
        leave_one_out ? model.train : model.normalizer.apply(table.take(folds[fold], splits.storage), here);
    accumulate(evaluation.report, predict_fold(model, test, folds[fold], options.ks, vote, here, predictions), fold);
    // After the first fit, which may refuse the table.
    if (run.warn && fold == 0 && options.normalize.method == Normalization::none) {
      knn::warn_of_ranges(feature_ranges(table, run), options.knn, run);
    }
  }
  evaluation.of_k = score_each(label, options, folds, predictions);
  evaluation.best = best_of(evaluation.of_k, label.nominal());
  hand_report(run, "evaluation", evaluation.report);
  return evaluation;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
