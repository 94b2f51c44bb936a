#include "page/parts/confusion.hpp"

#include <algorithm>
#include <numeric>

#include "page/matrix.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kMostClasses = 12;  // rows of the picture
constexpr std::size_t kMostListed = 200;  // rows of the table of classes

// The largest classes, in the label's order.
std::vector<std::int32_t> largest_classes(const ClassificationScores& scores, std::size_t most) {
  std::vector<std::int32_t> codes;
  for (std::size_t c = 0; c < scores.support.size(); ++c) {
    if (scores.support[c] > 0) codes.push_back(static_cast<std::int32_t>(c));
  }
  std::stable_sort(codes.begin(), codes.end(), [&](std::int32_t a, std::int32_t b) {
    return scores.support[static_cast<std::size_t>(a)] > scores.support[static_cast<std::size_t>(b)];
  });
  if (codes.size() > most) codes.resize(most);
  std::sort(codes.begin(), codes.end());
  return codes;
}

struct Shown {
  std::vector<std::int32_t> codes;
  bool others = false;     // whether there are other true classes
  bool strangers = false;  // whether something else is predicted, or nothing
};

Shown shown_of(const ClassificationScores& scores) {
  Shown shown{largest_classes(scores, kMostClasses)};
  const auto in = [&](std::int32_t code) { return std::binary_search(shown.codes.begin(), shown.codes.end(), code); };
  for (const ConfusionCell& cell : scores.confusion) {
    if (!in(cell.truth)) shown.others = true;
    if (!in(cell.predicted)) shown.strangers = true;
  }
  return shown;
}

Matrix matrix_of(const ClassificationScores& scores, const Shown& shown) {
  Matrix matrix;
  const std::size_t n = shown.codes.size();
  for (const std::int32_t code : shown.codes) matrix.truths.push_back(scores.classes[code]);
  matrix.predictions = matrix.truths;
  if (shown.others) matrix.truths.emplace_back("other classes");
  if (shown.others || shown.strangers) matrix.predictions.emplace_back(shown.others ? "other classes" : "no or other");
  matrix.counts.assign(matrix.truths.size(), std::vector<std::int64_t>(matrix.predictions.size(), 0));
  const auto place = [&](std::int32_t code) {
    const auto at = std::lower_bound(shown.codes.begin(), shown.codes.end(), code);
    return at != shown.codes.end() && *at == code ? static_cast<std::size_t>(at - shown.codes.begin()) : n;
  };
  for (const ConfusionCell& cell : scores.confusion) {
    matrix.counts[place(cell.truth)][place(cell.predicted)] += cell.n_rows;
  }
  return matrix;
}

DataTable cells_of(const Matrix& matrix) {
  DataTable table{"Rows of each true class, by predicted class", {"true class"}, {Cell::text}, {}};
  for (const std::string& name : matrix.predictions) {
    table.heads.push_back(as_name(name));
    table.cells.push_back(Cell::number);
  }
  table.rows.reserve(matrix.truths.size());
  for (std::size_t t = 0; t < matrix.truths.size(); ++t) {
    std::vector<std::string> row = {as_name(matrix.truths[t])};
    for (const std::int64_t count : matrix.counts[t]) row.push_back(grouped(count));
    table.rows.push_back(std::move(row));
  }
  return table;
}

DataTable scores_of(const ClassificationScores& scores) {
  DataTable table{"Scores of each class",
                  {"class", "rows", "recall", "precision", "F1"},
                  {Cell::text, Cell::number, Cell::number, Cell::number, Cell::number},
                  {}};
  for (const std::int32_t code : largest_classes(scores, kMostListed)) {
    const auto c = static_cast<std::size_t>(code);
    table.rows.push_back({as_name(scores.classes[code]), grouped(scores.support[c]), percent(scores.recall[c]),
                          percent(scores.precision[c]), number(scores.f1[c])});
  }
  return table;
}

const ConfusionCell* worst(const ClassificationScores& scores) {
  const ConfusionCell* found = nullptr;
  for (const ConfusionCell& cell : scores.confusion) {
    if (cell.truth == cell.predicted || cell.predicted < 0) continue;
    if (found == nullptr || cell.n_rows > found->n_rows) found = &cell;
  }
  return found;
}

}  // namespace

std::string worst_confusion(const ClassificationScores& scores) {
  const ConfusionCell* cell = worst(scores);
  if (cell == nullptr) return {};
  const auto support = static_cast<double>(scores.support[static_cast<std::size_t>(cell->truth)]);
  return grouped(cell->n_rows, "row") + " of class " + in_quotes(scores.classes[cell->truth]) +
         (cell->n_rows == 1 ? " is" : " are") + " taken for " + in_quotes(scores.classes[cell->predicted]) + ", " +
         percent(static_cast<double>(cell->n_rows) / support) + " of that class";
}

void write_confusion(Markup& out, const ClassificationScores& scores, const std::string& id, const std::string& what) {
  const Shown shown = shown_of(scores);
  const Matrix matrix = matrix_of(scores, shown);
  const std::string mistake = worst_confusion(scores);
  const std::string message =
      what + " predicts " + percent(scores.accuracy) + " of " + grouped(scores.n_rows, "row") + " rightly. " +
      (mistake.empty() ? "There is no mistake." : "The most frequent mistake: " + mistake + ".");
  out.element("p", message);
  std::string caption = "Rows of each true class by predicted class, and their share of the true class. Framed: right.";
  if (shown.others) caption += " The " + std::to_string(shown.codes.size()) + " largest classes have a line each.";
  write_matrix(out, {id, "Confusion matrix", message, caption, {}, Narrow::scroll}, matrix, cells_of(matrix));
  write_folded_table(out, scores_of(scores), "Scores of each class");
}

}  // namespace stope::cli::page
