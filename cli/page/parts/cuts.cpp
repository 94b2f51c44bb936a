#include "page/parts/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "page/bars.hpp"
#include "page/command_line.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

// What a cut does to what share_words() names.
std::string verb(Criterion criterion) {
  return criterion == Criterion::discernibility ? "separates" : "removes";
}

constexpr std::size_t kMostBars = 20;
constexpr std::size_t kMostListed = 500;

ValueType type_of(const Subject& subject, const BestCut& cut) {
  const std::int64_t column = subject.table.find(cut.name);
  return column < 0 ? ValueType::real : subject.table.columns[static_cast<std::size_t>(column)].type;
}

DataTable numbers_of(const CutsFound& found, const Subject& subject) {
  const bool tested = found.n_permutations > 0;
  DataTable table{"Columns by their best cut",
                  {"column", "cut", verb(found.criterion)},
                  {Cell::text, Cell::text, Cell::number},
                  {}};
  if (tested) {
    for (const char* head : {"p", "family p", "q"}) {
      table.heads.emplace_back(head);
      table.cells.push_back(Cell::number);
    }
  }
  const double least = 1.0 / static_cast<double>(found.n_permutations + 1);
  const std::size_t shown = std::min(kMostListed, found.ranking.cuts.size());
  if (shown < found.ranking.cuts.size()) {
    table.caption = "The first " + grouped(static_cast<std::int64_t>(shown)) + " columns by their best cut";
  }
  table.rows.reserve(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const BestCut& cut = found.ranking.cuts[i];
    const std::string words = cut_words(cut, type_of(subject, cut));
    std::vector<std::string> row = {as_name(cut.name), words.empty() ? "none" : words, percent(share_of(found, cut))};
    if (tested) {
      row.push_back(p_value(cut.p_value.value_or(1.0), least));
      row.push_back(p_value(cut.family_p_value.value_or(1.0), least));
      row.push_back(p_value(cut.q_value.value_or(1.0), least));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void write_method(Markup& out, const CutsFound& found) {
  std::string text = "Found in " + found.rows + ". A cut counts by the share " + share_words(found.criterion) +
                     " that it " + verb(found.criterion) + ".";
  if (found.n_permutations > 0) {
    text += " p-values come from " + grouped(found.n_permutations, "permutation") + " of the classes (seed " +
            std::to_string(found.seed) +
            "). p is about the column alone, family p about all columns together, q is the false discovery rate by "
            "Benjamini and Hochberg.";
  } else {
    text +=
        " There are no p-values: permutations of a table of this size take too long (--permutations asks for them).";
  }
  out.element("p", {{"class", "soft small"}}, text);
}

}  // namespace

double best_score(const BestCuts& ranking, Criterion criterion) {
  double n = 0, same = 0, bits = 0;
  for (const std::int64_t count : ranking.report.class_counts) n += static_cast<double>(count);
  if (n == 0) return 0;
  for (const std::int64_t count : ranking.report.class_counts) {
    const auto rows = static_cast<double>(count);
    same += rows * rows;
    if (count > 0) bits -= rows / n * std::log2(rows / n);
  }
  if (criterion == Criterion::discernibility) {
    // With weights, classes are counted in units of 2^-20, and scores are in squares of the weights' own unit.
    const bool weighted = !ranking.cuts.empty() && !ranking.cuts.front().pairs;
    return (n * n - same) / 2 * (weighted ? 0x1p-40 : 1.0);
  }
  return criterion == Criterion::entropy ? bits : 1 - same / n / n;
}

std::string share_words(Criterion criterion) {
  switch (criterion) {
    case Criterion::discernibility: return "of the pairs of rows of different classes";
    case Criterion::gini: return "of the impurity of the classes";
    case Criterion::entropy: break;
  }
  return "of the uncertainty about the class";
}

double share_of(const CutsFound& found, const BestCut& cut) {
  return found.most > 0 ? std::min(1.0, cut.score / found.most) : 0.0;
}

std::string cut_words(const BestCut& cut, ValueType type) {
  if (cut.value) return "= " + as_name(*cut.value);
  if (!cut.cut) return {};
  return *cut.cut == -std::numeric_limits<double>::infinity() ? "known or missing" : "≥ " + cut_number(type, *cut.cut);
}

void write_cuts(Markup& out, const CutsFound& found, const Subject& subject) {
  std::vector<Bar> bars;
  for (const BestCut& cut : found.ranking.cuts) {
    if (bars.size() == kMostBars || cut.score <= 0) break;
    bars.push_back({cut.name, share_of(found, cut), kNoNumber, kNoNumber, percent(share_of(found, cut))});
  }
  if (bars.empty()) {
    out.element("p", "No cut of any column separates the classes.");
    write_method(out, found);
    return;
  }
  const BestCut& first = found.ranking.cuts.front();
  const std::string message = "The best single cut is " + in_quotes(first.name) + " " +
                              cut_words(first, type_of(subject, first)) + ": it " + verb(found.criterion) + " " +
                              percent(share_of(found, first)) + " " + share_words(found.criterion) + ".";
  out.element("p", message);
  write_method(out, found);
  std::string caption =
      "Share " + share_words(found.criterion) + " that the best cut of each column " + verb(found.criterion) + ".";
  if (bars.size() < found.ranking.cuts.size()) {
    caption +=
        " The first " + std::to_string(bars.size()) + " of " + grouped(std::ssize(found.ranking.cuts), "column") + ".";
  }
  write_bars(out, {"cuts", "Best cuts", message, caption, {}, Narrow::scroll}, bars, numbers_of(found, subject));
  write_command(out, found.command);
}

}  // namespace stope::cli::page
