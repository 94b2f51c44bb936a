#include "report/evaluation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "arguments/knn_arguments.hpp"
#include "report/text_table.hpp"

namespace stope::cli {
namespace {

struct ScoreColumn {
  const char* key;    // in JSON and records
  const char* title;  // for people
  double RepeatScores::* score;
  bool share;  // of at most 1 by its nature: four decimals
};

// The first three stood here before there were more: scripts know their places.
constexpr ScoreColumn kClassScores[] = {
    {"accuracy", "accuracy", &RepeatScores::accuracy, true},
    {"kappa", "kappa", &RepeatScores::kappa, true},
    {"macro_f1", "macro F1", &RepeatScores::macro_f1, true},
    {"balanced_accuracy", "balanced", &RepeatScores::balanced_accuracy, true},
    {"roc_auc", "ROC AUC", &RepeatScores::roc_auc, true},
    {"log_loss", "log loss", &RepeatScores::log_loss, true},
};
constexpr ScoreColumn kNumberScores[] = {
    {"rmse", "RMSE", &RepeatScores::rmse, false},
    {"mae", "MAE", &RepeatScores::mae, false},
    {"r2", "R2", &RepeatScores::r2, true},
};

std::span<const ScoreColumn> columns_of(bool classes) {
  return classes ? std::span<const ScoreColumn>(kClassScores) : std::span<const ScoreColumn>(kNumberScores);
}

enum class Deviation { shown, left_out };

std::string score_cell(const ScoreColumn& column, const std::vector<RepeatScores>& repeats, Deviation deviation) {
  const auto text = [&](double value) { return column.share ? format_score(value) : format_value(value); };
  const Spread found = spread(repeats, column.score);
  const bool both = repeats.size() > 1 && deviation == Deviation::shown;
  return both ? text(found.mean) + " +- " + text(found.deviation) : text(found.mean);
}

bool any(const std::vector<EvaluationLine>& lines, const ScoreColumn& column) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const EvaluationLine& line) { return !std::isnan(spread(*line.repeats, column.score).mean); });
}

// Which of the columns before the scores the lines have.
struct Heads {
  bool metric, normalize, k;
  explicit Heads(const std::vector<EvaluationLine>& lines)
      : metric(!lines.front().metric.empty()), normalize(!lines.front().normalize.empty()), k(lines.front().k > 0) {}
};

}  // namespace

std::string evaluation_text(const std::vector<EvaluationLine>& lines, const EvaluationShape& shape) {
  const Heads heads(lines);
  std::vector<Align> align;
  std::vector<std::string> head;
  const auto add = [&](const char* title, Align side) {
    head.emplace_back(title);
    align.push_back(side);
  };
  if (heads.metric) add("measure", Align::left);
  if (heads.normalize) add("normalize", Align::left);
  if (heads.k) add("k", Align::right);
  std::vector<ScoreColumn> columns;
  for (const ScoreColumn& column : columns_of(shape.classes)) {
    // Accuracy and RMSE stay even where they are undefined: the best line is chosen by them.
    if (!columns.empty() && !any(lines, column)) continue;
    columns.push_back(column);
    add(column.title, Align::right);
  }
  add("", Align::left);
  TextTable text(align);
  text.row(head);
  for (const EvaluationLine& line : lines) {
    std::vector<std::string> row;
    if (heads.metric) row.push_back(line.metric);
    if (heads.normalize) row.push_back(line.normalize);
    if (heads.k) row.push_back(std::to_string(line.k));
    // All deviations would not fit a terminal: the score that decides has its own.
    for (const ScoreColumn& column : columns) {
      const bool decides = column.score == columns.front().score;
      row.push_back(score_cell(column, *line.repeats, decides ? Deviation::shown : Deviation::left_out));
    }
    row.emplace_back(line.best ? "best" : "");
    text.row(row);
  }
  return text.text(2);
}

std::string repeats_text(const std::vector<RepeatScores>& repeats, bool classes) {
  TextTable text({Align::left, Align::left});
  for (const ScoreColumn& column : columns_of(classes)) {
    if (std::isnan(spread(repeats, column.score).mean)) continue;
    text.row({column.score == &RepeatScores::balanced_accuracy ? "balanced accuracy" : column.title,
              score_cell(column, repeats, Deviation::shown)});
  }
  return text.text(2);
}

void write_evaluation(RecordWriter& out, const std::vector<EvaluationLine>& lines, const EvaluationShape& shape) {
  const Heads heads(lines);
  const std::span<const ScoreColumn> columns = columns_of(shape.classes);
  if (heads.metric) out.text("metric");
  if (heads.normalize) out.text("normalize");
  if (heads.k) out.text("k");
  for (const ScoreColumn& column : columns) out.text(column.key);
  for (const ScoreColumn& column : columns) {
    if (shape.repeated) out.text(std::string(column.key) + "_std");
  }
  out.end_row();
  for (const EvaluationLine& line : lines) {
    if (heads.metric) out.text(line.metric);
    if (heads.normalize) out.text(line.normalize);
    if (heads.k) out.integer(line.k);
    for (const ScoreColumn& column : columns) out.number(spread(*line.repeats, column.score).mean);
    for (const ScoreColumn& column : columns) {
      if (shape.repeated) out.number(spread(*line.repeats, column.score).deviation);
    }
    out.end_row();
  }
  out.finish();
}

Json repeats_json(const std::vector<RepeatScores>& repeats, bool classes) {
  Json json = Json::object();
  for (const ScoreColumn& column : columns_of(classes)) {
    const Spread found = spread(repeats, column.score);
    json[column.key] = {{"mean", found.mean}, {"std", found.deviation}};
  }
  return json;
}

std::string probability_text(const std::vector<RepeatScores>& repeats, const ProbabilityScores& probabilities,
                             std::int64_t n_rows) {
  std::string text = "balanced accuracy " + format_score(spread(repeats, &RepeatScores::balanced_accuracy).mean);
  if (probabilities.n_rows == 0) return text + "\n";
  text += fmt::format(", ROC AUC {}, log loss {}", format_score(probabilities.roc_auc),
                      format_score(probabilities.log_loss));
  if (probabilities.n_rows < n_rows) {
    text += fmt::format(" (of the {} with a prediction)", counted(probabilities.n_rows, "row"));
  }
  return text + "\n";
}

void write_predictions(RecordWriter& out, const Table& table, const OutOfFold& predictions, const RunOptions& run) {
  const Column& label = *column_of(table, Role::label);
  const Column* const id = column_of(table, Role::id);
  const bool repeated = !predictions.repeats.empty() && predictions.repeats.back() > 0;
  const std::size_t width = predictions.confidences.empty() ? 0 : static_cast<std::size_t>(label.values.size());
  out.text("row");
  if (repeated) out.text("repeat");
  out.text("fold").text("truth").text("prediction");
  for (std::size_t c = 0; c < width; ++c) {
    out.text("confidence(" + label.values[static_cast<std::int64_t>(c)] + ")");
  }
  if (id != nullptr) out.text(id->name);
  out.end_row();
  const auto n = static_cast<std::int64_t>(predictions.rows.size());
  for (std::size_t i = 0; i < predictions.rows.size(); ++i) {
    const std::int64_t row = predictions.rows[i];
    out.integer(row);
    if (repeated) out.integer(predictions.repeats[i]);
    out.integer(predictions.folds[i]).cell(label, row);
    if (label.nominal()) {
      const std::int32_t code = predictions.codes[i];
      out.text(code < 0 ? "?" : label.values[code]);
    } else {
      out.number(predictions.numbers[i]);
    }
    for (std::size_t c = 0; c < width; ++c) out.number(predictions.confidences[i * width + c]);
    if (id != nullptr) out.cell(*id, row);
    out.end_row();
    tell_written(run, static_cast<std::int64_t>(i), n);
  }
  out.finish();
}

}  // namespace stope::cli
