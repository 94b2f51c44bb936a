// Scores for people and for scripts (cli/report/score_report.hpp).
#include "report/score_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/text_table.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kMaxMatrix = 12;    // classes: a wider matrix does not fit a terminal
constexpr std::int64_t kMostMatrix = 50;  // classes: beyond that the JSON lists the cells that are not 0
constexpr std::size_t kMaxClasses = 60;   // rows of the class table: more is for --json

std::string confusion_text(const ClassificationScores& scores) {
  const std::size_t n = scores.classes.size();
  const std::vector<std::int64_t> matrix = scores.confusion_matrix();
  const bool missing = std::any_of(scores.confusion.begin(), scores.confusion.end(),
                                   [](const ConfusionCell& cell) { return cell.predicted == kMissingCode; });
  const std::size_t shown = missing ? n + 1 : n;
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
      row.push_back(std::to_string(matrix[truth * (n + 1) + predicted]));
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
  for (const ConfusionCell& cell : scores.confusion) right += cell.truth == cell.predicted ? cell.n_rows : 0;
  std::string text =
      fmt::format("accuracy {} ({} of {}), kappa {}, macro F1 {}\n", format_score(scores.accuracy), right,
                  counted(scores.n_rows, "row"), format_score(scores.kappa), format_score(scores.macro_f1));
  if (scores.classes.size() <= kMaxMatrix) text += "\n" + confusion_text(scores);
  return text + "\n" + class_text(scores);
}

std::string score_text(const RegressionScores& scores) {
  return fmt::format("RMSE {}, MAE {}, R2 {} ({})\n", format_value(scores.rmse), format_value(scores.mae),
                     format_score(scores.r2), counted(scores.n_rows, "row"));
}

Json score_json(Session& session, const std::shared_ptr<const ClassificationScores>& scores) {
  const auto n = static_cast<std::int64_t>(scores->classes.size());
  Json json = {{"rows", scores->n_rows},
               {"accuracy", scores->accuracy},
               {"kappa", scores->kappa},
               {"macro_f1", scores->macro_f1},
               {"classes", session.long_array(n, [scores](std::int64_t c) { return Json(scores->classes[c]); })}};
  if (n <= kMostMatrix) {
    const auto matrix = std::make_shared<const std::vector<std::int64_t>>(scores->confusion_matrix());
    json["confusion"] = session.long_array(n, [matrix, n](std::int64_t c) {
      const auto row = matrix->begin() + static_cast<std::ptrdiff_t>(c * (n + 1));
      return Json(std::vector<std::int64_t>(row, row + static_cast<std::ptrdiff_t>(n + 1)));
    });
  } else {
    json["confusion_cells"] =
        session.long_array(static_cast<std::int64_t>(scores->confusion.size()), [scores](std::int64_t i) {
          const ConfusionCell& cell = scores->confusion[static_cast<std::size_t>(i)];
          const Json predicted = cell.predicted == kMissingCode ? Json(nullptr) : Json(cell.predicted);
          return Json::array({cell.truth, predicted, cell.n_rows});
        });
  }
  json["per_class"] = session.long_array(n, [scores](std::int64_t class_code) {
    const auto c = static_cast<std::size_t>(class_code);
    return Json{{"class", scores->classes[class_code]},
                {"precision", scores->precision[c]},
                {"recall", scores->recall[c]},
                {"f1", scores->f1[c]},
                {"support", scores->support[c]}};
  });
  return json;
}

Json score_json(Session&, const std::shared_ptr<const RegressionScores>& scores) {
  return {{"rows", scores->n_rows}, {"rmse", scores->rmse}, {"mae", scores->mae}, {"r2", scores->r2}};
}

}  // namespace stope::cli
