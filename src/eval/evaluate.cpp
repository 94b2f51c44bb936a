// evaluate(): k-NN models of one table, fitted and tested by cross-validation, hold-out or leave-one-out.
#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "eval/resample.hpp"
#include "knn/range_warning.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/neighbors_model.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

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

// Throws out_of_memory if predictions and scores of every k exceed the memory limit.
void require_room_for_scores(const Column& label, const EvaluateOptions& options, const RunOptions& run) {
  const std::int64_t n_classes = label.nominal() ? std::ssize(label.values.names()) : 0;
  const std::int64_t bytes = bytes_of_scores(label, Resampling::of(options), options.confidences, options.predictions);
  require_memory("predictions and scores of " + std::to_string(label.size()) + " rows and " +
                     std::to_string(n_classes) + " classes, for each k, need",
                 checked::mul(bytes, std::ssize(options.ks)), run, {.option = "ks"});
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

// The rows that a model learns from, and those that it predicts.
struct Fold {
  const Table& table;
  const std::vector<std::int64_t>&training, &rows;
};

// Predicts `test`; for every k, prediction i belongs to table row fold.rows[i].
SearchReport predict_fold(const NeighborsModel& model, const Table& test, const Fold& fold,
                          const std::vector<std::int64_t>& ks, const VoteOptions& vote, const RunOptions& run,
                          std::vector<RepeatPredictions>& predictions) {
  const std::vector<std::int64_t>& rows = fold.rows;
  SearchReport report;
  const auto scatter = [&](const auto& from, auto& to) {
    for (std::size_t i = 0; i < rows.size(); ++i) to[static_cast<std::size_t>(rows[i])] = from[i];
  };
  if (model.classifies()) {
    const KnnClassifier fitted =
        on_rows(fold.table, fold.training, [&] { return KnnClassifier::fit(model.train, model.options, run); });
    const auto results = on_rows(fold.table, rows, [&] { return fitted.predict_each(test, ks, vote, run, &report); });
    for (std::size_t i = 0; i < results.size(); ++i) {
      scatter(results[i].codes, predictions[i].codes);
      if (results[i].confidences.empty()) continue;
      const std::size_t width = results[i].classes.size();
      for (std::size_t j = 0; j < rows.size(); ++j) {
        std::copy_n(results[i].confidences.begin() + static_cast<std::ptrdiff_t>(j * width), width,
                    predictions[i].confidences_of(rows[j]).begin());
      }
    }
  } else {
    const KnnRegressor fitted =
        on_rows(fold.table, fold.training, [&] { return KnnRegressor::fit(model.train, model.options, run); });
    const auto results = on_rows(fold.table, rows, [&] { return fitted.predict_each(test, ks, vote, run, &report); });
    for (std::size_t i = 0; i < results.size(); ++i) scatter(results[i], predictions[i].numbers);
  }
  return report;
}

std::size_t best_of(const std::vector<EvaluationOfK>& of_k, bool label_is_nominal) {
  const auto order = [&](const EvaluationOfK& result) {
    return std::pair(loss_of(result.repeats, label_is_nominal), result.k);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < of_k.size(); ++i) {
    if (order(of_k[i]) < order(of_k[best])) best = i;
  }
  return best;
}

void check(const Table& table, const Column& label, const EvaluateOptions& options) {
  if (options.scheme != Scheme::leave_one_out && !options.exclude_group.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "excluding the group '" + options.exclude_group + "' needs leave-one-out evaluation",
                {.option = "exclude_group"});
  }
  Resampling::of(options).check();
  if (options.knn.compat == Compat::none) require_labels(table, label);
}

// k-NN leaves a row out by its number, so that leave-one-out is one search of the whole table.
std::vector<std::vector<std::int64_t>> folds_of(const Table& table, const Column& label, const EvaluateOptions& options,
                                                std::int64_t repeat) {
  if (options.scheme == Scheme::leave_one_out) {
    if (table.n_rows < 2) {
      throw Error(ErrorCode::invalid_argument,
                  "leave-one-out needs at least 2 rows, there are " + std::to_string(table.n_rows),
                  {.option = "scheme"});
    }
    check_ks(options, table.n_rows - 1);
    return {complement({}, table.n_rows)};
  }
  std::vector<std::int32_t> codes;  // numeric labels have no classes to balance
  if (label.nominal()) codes.assign(label.codes().begin(), label.codes().end());
  auto folds = Resampling::of(options).folds(repeat, table.n_rows, codes);
  std::size_t largest = 0;
  for (const auto& fold : folds) largest = std::max(largest, fold.size());
  check_ks(options, table.n_rows - static_cast<std::int64_t>(largest));
  return folds;
}

// One evaluation: fold by fold, and repetition by repetition.
class KnnEvaluation {
 public:
  KnnEvaluation(const Table& table, const Column& label, const EvaluateOptions& options, const RunOptions& run)
      : table_(table), label_(label), options_(options), run_(run), splits_(plan_splits(table, options, run)) {
    vote_.weights = options.weights;
    vote_.confidences = label.nominal() ? options.confidences : Confidences::none;
    vote_.exclude_self = leave_one_out();
    vote_.exclude_group = options.exclude_group;
    for (std::size_t i = 0; i < options.ks.size(); ++i) {
      keepers_.emplace_back(label, options.scheme, vote_.confidences, options.predictions);
    }
  }

  void add(std::int64_t repeat, const std::vector<std::vector<std::int64_t>>& folds) {
    std::vector<RepeatPredictions> predictions(options_.ks.size(), {label_, vote_.confidences, folds});
    for (std::size_t fold = 0; fold < folds.size(); ++fold) {
      const std::size_t done = static_cast<std::size_t>(repeat) * folds.size() + fold;
      const RunOptions here = fold_run(splits_.run, done, folds.size() * static_cast<std::size_t>(options_.n_repeats));
      accumulate(report_, predict(folds[fold], here, predictions), done);
      // After the first fit, which may refuse the table.
      if (run_.warn && done == 0 && options_.normalize.method == Normalization::none) {
        knn::warn_of_ranges(feature_ranges(table_, run_), options_.knn, run_);
      }
    }
    for (std::size_t i = 0; i < keepers_.size(); ++i) {
      run_.cancel.check();
      keepers_[i].add(folds, predictions[i], run_);
    }
  }

  Evaluation finish() {
    Evaluation evaluation;
    evaluation.label_is_nominal = label_.nominal();
    for (std::size_t i = 0; i < keepers_.size(); ++i) {
      ModelScores scores = keepers_[i].finish();
      evaluation.of_k.push_back({options_.ks[i], std::move(scores.classification), scores.regression,
                                 std::move(scores.fold_scores), scores.probabilities, std::move(scores.repeats),
                                 std::move(scores.predictions)});
    }
    evaluation.best = best_of(evaluation.of_k, label_.nominal());
    for (std::size_t i = 0; i < evaluation.of_k.size(); ++i) {
      if (i != evaluation.best) evaluation.of_k[i].predictions = {};
    }
    evaluation.report = std::move(report_);
    return evaluation;
  }

 private:
  bool leave_one_out() const { return options_.scheme == Scheme::leave_one_out; }

  SearchReport predict(const std::vector<std::int64_t>& rows, const RunOptions& run,
                       std::vector<RepeatPredictions>& predictions) const {
    const std::vector<std::int64_t> training = leave_one_out() ? rows : complement(rows, table_.n_rows);
    const NeighborsModel model = on_rows(table_, training, [&] {
      return make_neighbors_model(leave_one_out() ? table_ : table_.take(training, splits_.storage), options_.knn,
                                  options_.normalize, {}, run);
    });
    const Table test = leave_one_out() ? model.train : on_rows(table_, rows, [&] {
      return model.normalizer.apply(table_.take(rows, splits_.storage), run);
    });
    return predict_fold(model, test, {table_, training, rows}, options_.ks, vote_, run, predictions);
  }

  const Table& table_;
  const Column& label_;
  const EvaluateOptions& options_;
  const RunOptions& run_;
  Splits splits_;
  VoteOptions vote_;
  std::vector<ScoreKeeper> keepers_;  // one a k
  SearchReport report_;
};

}  // namespace

Evaluation evaluate(const Table& table, const EvaluateOptions& options, const RunOptions& run) try {
  table.validate();
  const Column& label = label_to_evaluate(table);
  check(table, label, options);
  auto folds = folds_of(table, label, options, 0);
  require_room_for_scores(label, options, run);
  const RunningJob running(run);
  KnnEvaluation work(table, label, options, run);
  for (std::int64_t repeat = 0; repeat < options.n_repeats; ++repeat) {
    if (repeat > 0) folds = folds_of(table, label, options, repeat);
    work.add(repeat, folds);
  }
  Evaluation evaluation = work.finish();
  hand_report(run, "evaluation", evaluation.report);
  return evaluation;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
