// Scores for people and for scripts (cli/report/score_report.hpp).
#include "report/score_report.hpp"

#include <fmt/format.h>

#include <numeric>
#include <unordered_map>

#include "report/text_table.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kMaxMatrix = 12;   // classes: a wider matrix does not fit a terminal
constexpr std::size_t kNamesShown = 3;   // of classes in a warning
constexpr std::size_t kMaxClasses = 60;  // rows of the class table: more is for --json

std::int64_t count_at(const ClassificationScores& scores, std::size_t truth, std::size_t predicted) {
  return scores.confusion[truth * (scores.classes.size() + 1) + predicted];
}

std::int64_t n_missing(const ClassificationScores& scores) {
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < scores.classes.size(); ++c) sum += count_at(scores, c, scores.classes.size());
  return sum;
}

std::string confusion_text(const ClassificationScores& scores) {
  const std::size_t n = scores.classes.size();
  const std::size_t shown = n_missing(scores) > 0 ? n + 1 : n;
  std::vector<Align> align(shown + 1, Align::right);
  align[0] = Align::left;
  TextTable table(align);
  std::vector<std::string> head = {"true \\ predicted"};
  head.insert(head.end(), scores.classes.begin(), scores.classes.end());
  if (shown > n) head.emplace_back("(missing)");
  table.row(head);
  for (std::size_t truth = 0; truth < n; ++truth) {
    std::vector<std::string> row = {scores.classes[truth]};
    for (std::size_t predicted = 0; predicted < shown; ++predicted) {
      row.push_back(std::to_string(count_at(scores, truth, predicted)));
    }
    table.row(row);
  }
  return table.text(2);
}

std::string class_text(const ClassificationScores& scores) {
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right});
  table.row({"class", "precision", "recall", "F1", "rows"});
  for (std::size_t c = 0; c < scores.classes.size() && c < kMaxClasses; ++c) {
    table.row({scores.classes[c], format_score(scores.precision[c]), format_score(scores.recall[c]),
               format_score(scores.f1[c]), std::to_string(scores.support[c])});
  }
  std::string text = table.text(2);
  if (scores.classes.size() > kMaxClasses) {
    text += fmt::format("  ... and {} more classes (--json has all)\n", scores.classes.size() - kMaxClasses);
  }
  return text;
}

}  // namespace

std::string score_text(const ClassificationScores& scores) {
  std::int64_t right = 0;
  for (std::size_t c = 0; c < scores.classes.size(); ++c) right += count_at(scores, c, c);
  std::string text = fmt::format("accuracy {} ({} of {} rows), kappa {}, macro F1 {}\n", format_score(scores.accuracy),
                                 right, scores.n_rows, format_score(scores.kappa), format_score(scores.macro_f1));
  if (scores.classes.size() <= kMaxMatrix) text += "\n" + confusion_text(scores);
  return text + "\n" + class_text(scores);
}

std::string score_text(const RegressionScores& scores) {
  return fmt::format("RMSE {}, MAE {}, R2 {} ({} rows)\n", format_value(scores.rmse), format_value(scores.mae),
                     format_score(scores.r2), scores.n_rows);
}

ClassificationScores score_against(const Column& label, std::vector<std::string> classes,
                                   const std::vector<std::int32_t>& predicted) {
  std::unordered_map<std::string, std::int32_t> code_of;
  for (std::size_t c = 0; c < classes.size(); ++c) code_of.emplace(classes[c], static_cast<std::int32_t>(c));
  std::vector<std::int32_t> truth(predicted.size(), kMissingCode);
  for (std::size_t row = 0; row < truth.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    if (label.missing(at)) continue;
    const std::string& value = label.values[static_cast<std::size_t>(label.codes()[at])];
    const auto [entry, is_new] = code_of.emplace(value, static_cast<std::int32_t>(classes.size()));
    if (is_new) classes.push_back(value);
    truth[row] = entry->second;
  }
  return score_classification(classes, truth, predicted);
}

void report_scores(Session& session, const Column& label, const std::vector<std::string>& classes,
                   const std::vector<std::int32_t>& predicted) {
  const ClassificationScores scores = score_against(label, classes, predicted);
  std::int64_t n_rows = 0;
  std::string unknown;
  for (std::size_t c = classes.size(); c < scores.classes.size(); ++c) {
    n_rows += scores.support[c];
    if (c < classes.size() + kNamesShown) unknown += (unknown.empty() ? "'" : ", '") + scores.classes[c] + "'";
    if (c == classes.size() + kNamesShown) unknown += ", ...";
  }
  if (n_rows > 0) {
    session.warn(fmt::format("{} of {} with a label that training does not know, counted as wrong: {}", n_rows,
                             counted(scores.n_rows, "row"), unknown));
  }
  report_scores(session, scores);
}

RegressionScores score_against(const Column& label, const std::vector<double>& predicted) {
  std::vector<double> truth(predicted.size());
  for (std::size_t row = 0; row < truth.size(); ++row) truth[row] = label.at(static_cast<std::int64_t>(row));
  return score_regression(truth, predicted);
}

Json score_json(const ClassificationScores& scores) {
  Json confusion = Json::array();
  Json classes = Json::array();
  const std::size_t n = scores.classes.size();
  for (std::size_t c = 0; c < n; ++c) {
    Json row = Json::array();
    for (std::size_t predicted = 0; predicted <= n; ++predicted) row.push_back(count_at(scores, c, predicted));
    confusion.push_back(row);
    classes.push_back({{"class", scores.classes[c]},
                       {"precision", scores.precision[c]},
                       {"recall", scores.recall[c]},
                       {"f1", scores.f1[c]},
                       {"support", scores.support[c]}});
  }
  return {{"rows", scores.n_rows},       {"accuracy", scores.accuracy}, {"kappa", scores.kappa},
          {"macro_f1", scores.macro_f1}, {"classes", scores.classes},   {"confusion", confusion},
          {"per_class", classes}};
}

Json score_json(const RegressionScores& scores) {
  return {{"rows", scores.n_rows}, {"rmse", scores.rmse}, {"mae", scores.mae}, {"r2", scores.r2}};
}

}  // namespace stope::cli
