#include "page/parts/summary.hpp"

#include <algorithm>
#include <cmath>

#include "page/parts/confusion.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kNamed = 3;         // columns that a sentence names
constexpr std::int64_t kFewNumbers = 20;  // a numeric label of so few values may be meant as classes
constexpr double kDecides = 0.999;        // share of the uncertainty that a decider removes
constexpr std::int64_t kFewRows = 100;    // below, a column may decide by luck
constexpr double kSignificant = 0.05;

struct Tile {
  std::string name, value, more;
};

std::int64_t missing_cells(const Subject& subject) {
  std::int64_t cells = 0;
  for (const ColumnStatistics& column : subject.statistics.columns) cells += column.missing;
  return cells;
}

std::vector<Tile> tiles_of(const Findings& findings) {
  const Subject& subject = findings.subject;
  const auto features = std::ssize(subject.table.features());
  const double cells = static_cast<double>(subject.table.n_rows) * static_cast<double>(subject.table.columns.size());
  std::vector<Tile> tiles = {
      {"Rows", grouped(subject.table.n_rows),
       subject.n_without_label > 0 ? grouped(subject.n_without_label) + " without a label left out"
       : subject.label < 0         ? "no label"
                                   : "all with a label"},
      {"Columns", grouped(std::ssize(subject.table.columns)), grouped(features, "feature")},
      {"Missing values", cells > 0 ? percent(static_cast<double>(missing_cells(subject)) / cells) : "–",
       grouped(missing_cells(subject), "cell")}};
  if (!findings.neighbors.found) return tiles;
  const NeighborsFound& found = *findings.neighbors.found;
  const EvaluationOfK& best = found.evaluation.of_k[found.evaluation.best];
  if (subject.classifies()) {
    const Interval interval = wilson(best.classification.accuracy, best.classification.n_rows);
    tiles.push_back({"Accuracy, k = " + std::to_string(best.k), percent(best.classification.accuracy),
                     unbroken("95 %:") + " " + percent(interval.low) + " to " + percent(interval.high)});
    tiles.push_back({"Largest class", percent(found.majority), cut_off(found.majority_name, 40)});
  } else {
    tiles.push_back({"Error (RMSE), k = " + std::to_string(best.k), number(best.regression.rmse),
                     "R² " + number(best.regression.r2)});
    tiles.push_back({"Always the mean", number(found.deviation), "its error (RMSE)"});
  }
  return tiles;
}

void write_tiles(Markup& out, const std::vector<Tile>& tiles) {
  out.element("dl", {{"class", "tiles"}}, [&] {
    for (const Tile& tile : tiles) {
      out.element("div", [&] {
        out.element("dt", tile.name);
        out.element("dd", tile.value);
        if (!tile.more.empty()) out.element("dd", tile.more);
      });
    }
  });
}

std::string label_sentence(const Subject& subject) {
  if (subject.label < 0) return "No column is the label, so the page shows the columns alone.";
  const Column& label = *subject.label_column();
  const ColumnStatistics& facts = subject.of(subject.label);
  if (!subject.classifies()) {
    return "The label " + in_quotes(label.name) + " is numeric, from " + value_of_type(label.type, facts.min) + " to " +
           value_of_type(label.type, facts.max) + ", so predictions are numbers.";
  }
  const std::int64_t classes = facts.distinct.value_or(0);
  std::string text = "The label " + in_quotes(label.name) + " has " + grouped(classes, "class", "classes");
  if (classes > 1 && classes <= 4) {
    std::vector<std::string> names;
    names.reserve(subject.classes.size());
    for (std::size_t i = 0; i < subject.classes.size(); ++i) {
      names.push_back(in_quotes(subject.classes.names[i]) + " (" + grouped(subject.classes.rows[i], "row") + ")");
    }
    text += ": " + list_of(names);
  }
  return text + ".";
}

std::string accuracy_sentence(const Findings& findings) {
  if (!findings.neighbors.found) return {};
  const NeighborsFound& found = *findings.neighbors.found;
  const EvaluationOfK& best = found.evaluation.of_k[found.evaluation.best];
  const std::string k =
      best.k == 1 ? "The nearest row predicts " : "The " + std::to_string(best.k) + " nearest rows predict ";
  if (!findings.subject.classifies()) {
    if (!std::isfinite(best.regression.rmse)) return {};
    const bool helps = best.regression.rmse < found.deviation;
    return k + "the label with an error (RMSE) of " + number(best.regression.rmse) +
           (helps ? ", less than the " : ", no less than the ") + number(found.deviation) +
           " of always answering with the mean.";
  }
  const Interval interval = wilson(best.classification.accuracy, best.classification.n_rows);
  const std::string text = k + percent(best.classification.accuracy) + " of the rows rightly";
  if (interval.low > found.majority) {
    return text + ", clearly more than the " + percent(found.majority) + " that are of the largest class.";
  }
  if (interval.high < found.majority) {
    return text + ", fewer than the " + percent(found.majority) + " that are of the largest class: neighbours mislead.";
  }
  return text + ". That is not clearly different from the " + percent(found.majority) +
         " that are of the largest class.";
}

std::string cuts_sentence(const Findings& findings) {
  if (!findings.cuts.found) return {};
  const CutsFound& found = *findings.cuts.found;
  std::vector<std::string> names;
  for (const BestCut& cut : found.ranking.cuts) {
    if (names.size() == kNamed || cut.score <= 0) break;
    names.push_back(in_quotes(cut.name) + " (" + percent(share_of(found, cut)) + ")");
  }
  if (names.empty()) return "No cut of any column separates the classes.";
  std::string text = names.size() == 1 ? "The column that tells most by a single cut is "
                                       : "The columns that tell most by a single cut are ";
  text += list_of(names) + " " + share_words(found.criterion) + ".";
  if (found.n_permutations == 0) return text;
  const auto chance = std::count_if(found.ranking.cuts.begin(), found.ranking.cuts.end(),
                                    [](const BestCut& cut) { return cut.q_value.value_or(1.0) > kSignificant; });
  const auto all = std::ssize(found.ranking.cuts);
  if (chance == 0) return text + " Each column tells more than chance does.";
  if (chance == all) return text + " None of them is clearly better than chance.";
  return text + " " + grouped(all - chance) + " of " + grouped(all, "column") +
         " tell more than chance does (q ≤ 0.05).";
}

std::string missing_sentence(const Subject& subject) {
  const ColumnStatistics* worst = nullptr;
  std::int64_t columns = 0;
  for (const ColumnStatistics& column : subject.statistics.columns) {
    if (column.missing == 0) continue;
    ++columns;
    if (worst == nullptr || column.missing > worst->missing) worst = &column;
  }
  if (worst == nullptr) return "No value is missing.";
  const std::string share = percent(static_cast<double>(worst->missing) / static_cast<double>(worst->rows));
  if (columns == 1) return "Values are missing in " + in_quotes(worst->name) + " alone (" + share + ").";
  return "Values are missing in " + grouped(columns, "column") + ", most of them in " + in_quotes(worst->name) + " (" +
         share + ").";
}

std::string left_out_sentence(const Subject& subject) {
  if (subject.left_out.empty()) return {};
  if (subject.left_out.size() <= kNamed) {
    std::vector<std::string> parts;
    parts.reserve(subject.left_out.size());
    for (const LeftOut& one : subject.left_out) parts.push_back(in_quotes(one.name) + " " + one.why);
    return "Not used by any model: " + list_of(parts) + ".";
  }
  std::vector<std::string> names;
  names.reserve(kNamed);
  for (std::size_t i = 0; i < kNamed; ++i) names.push_back(in_quotes(subject.left_out[i].name));
  return grouped(std::ssize(subject.left_out), "column") + " are not used by any model, " + list_of(names) +
         " among them; the section about the table says why.";
}

std::vector<std::string> sentences(const Findings& findings) {
  std::vector<std::string> said = {label_sentence(findings.subject), accuracy_sentence(findings),
                                   cuts_sentence(findings)};
  if (findings.tree.found) {
    const TreeFound& tree = *findings.tree.found;
    said.push_back(
        "The tree has " + size_words(tree.tree) +
        (tree.scores ? "; trees of its kind predict " + percent(tree.scores->scores.accuracy) + " of the rows rightly."
                     : "."));
  }
  if (findings.neighbors.found && findings.subject.classifies()) {
    const Evaluation& evaluation = findings.neighbors.found->evaluation;
    const std::string mistake = worst_confusion(evaluation.of_k[evaluation.best].classification);
    if (!mistake.empty()) said.push_back("The most frequent mistake of the nearest rows: " + mistake + ".");
  }
  if (findings.correlations.found && !findings.correlations.found->empty()) {
    const LabelCorrelation& first = findings.correlations.found->front();
    said.push_back("The strongest correlation with the label has " + in_quotes(first.name) + ": " +
                   number(std::round(first.r * 1000) / 1000) + ".");
  }
  said.push_back(missing_sentence(findings.subject));
  said.push_back(left_out_sentence(findings.subject));
  std::erase(said, std::string());
  return said;
}

void write_notes(Markup& out, const Findings& findings, const std::vector<std::string>& warnings) {
  const Subject& subject = findings.subject;
  std::vector<std::string> notes = warnings;
  if (subject.regresses() && subject.of(subject.label).distinct.value_or(0) <= kFewNumbers) {
    const std::string& name = subject.label_column()->name;
    notes.insert(notes.begin(),
                 "The label has only " + grouped(subject.of(subject.label).distinct.value_or(0), "different number") +
                     ". If these are classes, run the report again with --nominal " + in_quotes(name) + ".");
  }
  if (findings.cuts.found) {
    std::vector<std::string> deciders;
    for (const BestCut& cut : findings.cuts.found->ranking.cuts) {
      if (deciders.size() < kNamed && share_of(*findings.cuts.found, cut) > kDecides)
        deciders.push_back(in_quotes(cut.name));
    }
    if (!deciders.empty() && subject.table.n_rows >= kFewRows) {
      const bool one = deciders.size() == 1;
      notes.insert(notes.begin(),
                   list_of(deciders) + (one ? " alone decides" : " each decide") +
                       " the label by a single cut. If that is the label in other words, --ignore leaves " +
                       (one ? "it" : "them") + " out.");
    }
  }
  if (subject.table.n_rows == 0) notes.insert(notes.begin(), "The table has no row to learn from.");
  if (notes.empty()) return;
  out.element("div", {{"class", "note"}, {"role", "note"}, {"aria-label", "Warnings"}}, [&] {
    if (notes.size() == 1) {
      out.element("p", notes.front());
      return;
    }
    out.element("ul", [&] {
      for (const std::string& note : notes) out.element("li", note);
    });
  });
}

}  // namespace

void write_summary(Markup& out, const Findings& findings, const std::vector<std::string>& warnings) {
  write_tiles(out, tiles_of(findings));
  write_notes(out, findings, warnings);
  out.element("ul", {{"class", "said"}}, [&] {
    for (const std::string& sentence : sentences(findings)) out.element("li", sentence);
  });
}

}  // namespace stope::cli::page
