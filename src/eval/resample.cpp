#include "eval/resample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "base/reduce.hpp"
#include "stope/error.hpp"
#include "table/column_error.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> select(const std::vector<T>& values, const std::vector<std::int64_t>& rows) {
  std::vector<T> selected;
  selected.reserve(rows.size());
  for (const std::int64_t row : rows) selected.push_back(values[static_cast<std::size_t>(row)]);
  return selected;
}

std::vector<double> numbers_of(const Column& label, const std::vector<std::int64_t>& rows) {
  std::vector<double> numbers;
  numbers.reserve(rows.size());
  for (const std::int64_t row : rows) numbers.push_back(label.at(row));
  return numbers;
}

std::vector<std::int32_t> codes_of(const Column& label, const std::vector<std::int64_t>& rows) {
  std::vector<std::int32_t> codes;
  codes.reserve(rows.size());
  for (const std::int64_t row : rows) codes.push_back(label.codes()[row]);
  return codes;
}

double accuracy_of(const std::vector<std::int32_t>& truth, const std::vector<std::int32_t>& predicted) {
  std::int64_t n_rows = 0, right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == kMissingCode) continue;
    ++n_rows;
    right += truth[i] == predicted[i] ? 1 : 0;
  }
  return n_rows == 0 ? kNaN : static_cast<double>(right) / static_cast<double>(n_rows);
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

}  // namespace

void Resampling::check() const {
  if (n_repeats < 1) {
    throw Error(ErrorCode::invalid_argument, std::to_string(n_repeats) + " repetitions: at least 1 is needed",
                {.option = "n_repeats"});
  }
  if (n_repeats == 1 || scheme != Scheme::leave_one_out) return;
  throw Error(ErrorCode::invalid_argument,
              "leave-one-out has one way to split a table, so " + std::to_string(n_repeats) +
                  " repetitions would all be the same",
              {.option = "n_repeats"});
}

std::vector<std::vector<std::int64_t>> Resampling::folds(std::int64_t repeat, std::int64_t n_rows,
                                                         const std::vector<std::int32_t>& codes) const {
  const std::uint64_t here = seed + static_cast<std::uint64_t>(repeat);
  switch (scheme) {
    case Scheme::holdout: return {holdout_rows(n_rows, holdout, here, codes)};
    case Scheme::cross_validation: return cross_validation_folds(n_rows, n_folds, here, codes);
    case Scheme::leave_one_out: break;
  }
  return cross_validation_folds(n_rows, n_rows, here);
}

std::int64_t Resampling::most_tested(std::int64_t n_rows) const {
  if (scheme != Scheme::holdout) return n_rows;
  return std::clamp<std::int64_t>(std::llround(holdout * static_cast<double>(n_rows)), 1, n_rows);
}

RepeatPredictions::RepeatPredictions(const Column& label, Confidences with,
                                     const std::vector<std::vector<std::int64_t>>& folds) {
  for (const auto& fold : folds) append(tested, fold);
  std::sort(tested.begin(), tested.end());
  const auto n = static_cast<std::size_t>(label.size());
  if (!label.nominal()) {
    numbers.assign(n, 0.0);
    return;
  }
  codes.assign(n, kMissingCode);
  if (with == Confidences::none) return;
  width_ = static_cast<std::size_t>(label.values.size());
  all_tested_ = tested.size() == n;
  confidences.assign(static_cast<std::size_t>(checked::mul(std::ssize(tested), label.values.size())), kNaN);
}

std::size_t RepeatPredictions::first_of(std::int64_t row) const {
  if (all_tested_) return static_cast<std::size_t>(row) * width_;
  return static_cast<std::size_t>(std::lower_bound(tested.begin(), tested.end(), row) - tested.begin()) * width_;
}

std::span<double> RepeatPredictions::confidences_of(std::int64_t row) {
  return std::span(confidences).subspan(first_of(row), width_);
}

std::span<const double> RepeatPredictions::confidences_of(std::int64_t row) const {
  return std::span(confidences).subspan(first_of(row), width_);
}

void ScoreKeeper::add(const std::vector<std::vector<std::int64_t>>& folds, const RepeatPredictions& predictions,
                      const RunOptions& run) {
  label_.nominal() ? add_classes(predictions, run) : add_numbers(predictions);
  if (scheme_ != Scheme::leave_one_out) score_folds(folds, predictions);
  if (keep_ == Predictions::kept) keep(folds, predictions);
}

void ScoreKeeper::add_classes(const RepeatPredictions& predictions, const RunOptions& run) {
  const std::vector<std::int32_t> truth = codes_of(label_, predictions.tested);
  const std::vector<std::int32_t> predicted = select(predictions.codes, predictions.tested);
  const ClassificationScores here = score_classification(label_.values, truth, predicted);
  RepeatScores repeat;
  repeat.accuracy = here.accuracy;
  repeat.balanced_accuracy = balanced_accuracy(here);
  repeat.kappa = here.kappa;
  repeat.macro_f1 = here.macro_f1;
  if (confidences_ == Confidences::all) {
    const ProbabilityScores scores = score_probabilities(label_.values, truth, predictions.confidences, run);
    repeat.roc_auc = scores.roc_auc;
    repeat.log_loss = scores.log_loss;
    scores_.probabilities.n_rows += scores.n_rows;
  }
  scores_.repeats.push_back(repeat);
  append(true_codes_, truth);
  append(predicted_codes_, predicted);
}

void ScoreKeeper::add_numbers(const RepeatPredictions& predictions) {
  const std::vector<double> truth = numbers_of(label_, predictions.tested);
  const std::vector<double> predicted = select(predictions.numbers, predictions.tested);
  const RegressionScores here = score_regression(truth, predicted);
  RepeatScores repeat;
  repeat.rmse = here.rmse;
  repeat.mae = here.mae;
  repeat.r2 = here.r2;
  scores_.repeats.push_back(repeat);
  append(true_numbers_, truth);
  append(predicted_numbers_, predicted);
}

void ScoreKeeper::score_folds(const std::vector<std::vector<std::int64_t>>& folds,
                              const RepeatPredictions& predictions) {
  for (const auto& fold : folds) {
    scores_.fold_scores.push_back(
        label_.nominal() ? accuracy_of(codes_of(label_, fold), select(predictions.codes, fold))
                         : score_regression(numbers_of(label_, fold), select(predictions.numbers, fold)).rmse);
  }
}

void ScoreKeeper::keep(const std::vector<std::vector<std::int64_t>>& folds, const RepeatPredictions& predictions) {
  OutOfFold& kept = scores_.predictions;
  const std::int64_t repeat = std::ssize(scores_.repeats) - 1;
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    const std::vector<std::int64_t>& rows = folds[fold];
    append(kept.rows, rows);
    kept.folds.insert(kept.folds.end(), rows.size(), static_cast<std::int64_t>(fold));
    kept.repeats.insert(kept.repeats.end(), rows.size(), repeat);
    if (!label_.nominal()) {
      append(kept.numbers, select(predictions.numbers, rows));
      continue;
    }
    append(kept.codes, select(predictions.codes, rows));
    if (confidences_ == Confidences::none) continue;
    for (const std::int64_t row : rows) {
      const std::span<const double> of_row = predictions.confidences_of(row);
      kept.confidences.insert(kept.confidences.end(), of_row.begin(), of_row.end());
    }
  }
}

ModelScores ScoreKeeper::finish() {
  if (label_.nominal()) {
    scores_.classification = score_classification(label_.values, true_codes_, predicted_codes_);
    scores_.probabilities.roc_auc = spread(scores_.repeats, &RepeatScores::roc_auc).mean;
    scores_.probabilities.log_loss = spread(scores_.repeats, &RepeatScores::log_loss).mean;
  } else {
    scores_.regression = score_regression(true_numbers_, predicted_numbers_);
  }
  return std::move(scores_);
}

double loss_of(const std::vector<RepeatScores>& repeats, bool label_is_nominal) {
  const double value =
      label_is_nominal ? -spread(repeats, &RepeatScores::accuracy).mean : spread(repeats, &RepeatScores::rmse).mean;
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

std::int64_t bytes_of_scores(const Column& label, const Resampling& resampling, Confidences confidences,
                             Predictions keep) {
  const std::int64_t n_repeats = resampling.n_repeats, n_tested = resampling.most_tested(label.size());
  const std::int64_t n_rows = label.size(), n_classes = label.nominal() ? std::ssize(label.values.names()) : 0;
  constexpr std::int64_t kRowBytes = sizeof(double) + sizeof(ConfusionCell);
  constexpr std::int64_t kClassBytes = 3 * sizeof(double) + sizeof(std::int64_t);
  std::int64_t bytes = checked::add(checked::mul(n_rows, kRowBytes), checked::mul(n_classes, kClassBytes));
  bytes = checked::mul(bytes, n_repeats);
  const std::int64_t all = confidences == Confidences::all ? checked::mul(n_tested, checked::mul(n_classes, 8)) : 0;
  bytes = checked::add(bytes, all);
  if (keep == Predictions::dropped) return bytes;
  return checked::add(bytes, checked::mul(n_repeats, checked::add(all, checked::mul(n_tested, 4 * 8))));
}

Table take_split(const Table& table, const std::vector<std::int64_t>& rows, const RunOptions& run) {
  return table.take(rows, storage_within(table.bytes(), memory_budget(run)));
}

const Column& label_to_evaluate(const Table& table) {
  const std::int64_t at = table.find(Role::label);
  if (at < 0) {
    throw Error(ErrorCode::invalid_argument, "evaluation needs a label, but the table has none",
                {.file = table.source, .option = "target"});
  }
  return table.columns[static_cast<std::size_t>(at)];
}

void require_labels(const Table& table, const Column& label, const Column* weight) {
  for (std::int64_t row = 0; row < label.size(); ++row) {
    if (!label.missing(row) || (weight != nullptr && weight->at(row) == 0.0)) continue;
    throw column_error(ErrorCode::invalid_data, table, label, ": the label is missing; remove such rows", row);
  }
}

Error of_whole_table(const Error& error, const Table& table, const std::vector<std::int64_t>& rows) {
  Place place = error.place();
  if (place.row < 0 || place.row >= std::ssize(rows)) return error;
  for (const std::string& before : {"column '" + place.feature + "', row ", std::string("row ")}) {
    const std::string here = before + std::to_string(place.row);
    if (!error.message().starts_with(here)) continue;
    place.row = rows[static_cast<std::size_t>(place.row)];
    place.file = table.source;
    return {error.code(), before + std::to_string(place.row) + error.message().substr(here.size()), place};
  }
  return error;
}

Spread spread(const std::vector<RepeatScores>& repeats, double RepeatScores::* score) try {
  Spread result;
  if (repeats.empty()) return result;
  std::vector<double> values;
  values.reserve(repeats.size());
  for (const RepeatScores& repeat : repeats) values.push_back(repeat.*score);
  const auto n = static_cast<double>(values.size());
  result.mean = pairwise_sum(values) / n;
  if (values.size() < 2) return result;
  for (double& value : values) value = (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(pairwise_sum(values) / (n - 1.0));
  return result;
} catch (...) {
  rethrow_as_error();
}

Confidences affordable_confidences(const Table& table, std::int64_t n_ks) try {
  const Column& label = label_to_evaluate(table);
  if (!label.nominal()) return Confidences::none;
  constexpr std::int64_t kMost = std::int64_t{1} << 27;  // 1 GiB
  const std::int64_t numbers = checked::mul(checked::mul(label.size(), label.values.size()), n_ks);
  return numbers <= kMost ? Confidences::all : Confidences::none;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
