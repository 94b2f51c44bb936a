#include "page/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_map>

#include "page/command_line.hpp"
#include "page/document.hpp"
#include "page/parts/columns.hpp"
#include "page/parts/confusion.hpp"
#include "page/parts/overview.hpp"
#include "page/parts/summary.hpp"
#include "page/words.hpp"
#include "stope/version.hpp"

namespace stope::cli::page {
namespace {

// Places of columns by their names: Table::find() for each of 200,000 columns takes half a minute.
using Places = std::unordered_map<std::string_view, std::int64_t>;

Places places_of(const Table& table) {
  Places places;
  places.reserve(table.columns.size());
  for (const Column& column : table.columns) places.emplace(column.name, std::ssize(places));
  return places;
}

void order_by_cuts(ColumnsView& view, const Subject& subject, const Places& places, const CutsFound& found) {
  std::set<std::int64_t> ranked;
  std::vector<std::int64_t> order;
  const double least = 1.0 / static_cast<double>(found.n_permutations + 1);
  for (const BestCut& cut : found.ranking.cuts) {
    const auto place = places.find(cut.name);
    if (place == places.end()) continue;
    const std::int64_t at = place->second;
    order.push_back(at);
    ranked.insert(at);
    const std::string words = cut_words(cut, subject.table.columns[static_cast<std::size_t>(at)].type);
    if (words.empty() || cut.score <= 0) {
      view.remarks[at] = "No cut separates classes.";
      continue;
    }
    view.remarks[at] = "Cut " + words + (found.criterion == Criterion::discernibility ? " separates " : " removes ") +
                       percent(share_of(found, cut));
    if (cut.p_value) {
      view.remarks[at] += unbroken(*cut.p_value <= least ? " (p " : " (p = ") + p_value(*cut.p_value, least) + ")";
    }
    view.remarks[at] += '.';
    if (cut.cut && std::isfinite(*cut.cut)) view.cuts[at] = *cut.cut;
  }
  for (const std::int64_t at : view.order) {
    if (!ranked.contains(at)) order.push_back(at);
  }
  view.order = std::move(order);
  view.order_words = std::string("A cut ") + (found.criterion == Criterion::discernibility ? "separates" : "removes") +
                     " a share " + share_words(found.criterion) + ". Columns with the best cuts come first.";
}

void order_by_correlation(ColumnsView& view, const Places& places, const std::vector<LabelCorrelation>& found) {
  std::set<std::int64_t> ranked;
  std::vector<std::int64_t> order;
  for (const LabelCorrelation& one : found) {
    const std::int64_t at = places.at(one.name);
    order.push_back(at);
    ranked.insert(at);
    view.remarks[at] = "Correlation with the label: " + number(std::round(one.r * 1000) / 1000) + ".";
  }
  for (const std::int64_t at : view.order) {
    if (!ranked.contains(at)) order.push_back(at);
  }
  view.order = std::move(order);
  view.order_words = "Columns with the strongest correlations come first.";
}

ColumnsView view_of_columns(const Findings& findings, std::size_t most_cards) {
  ColumnsView view = plain_view(findings.subject);
  view.most_cards = most_cards;
  const Places places = places_of(findings.subject.table);
  if (findings.cuts.found) order_by_cuts(view, findings.subject, places, *findings.cuts.found);
  if (findings.correlations.found) order_by_correlation(view, places, *findings.correlations.found);
  for (const LeftOut& one : findings.subject.left_out) {
    view.remarks[places.at(one.name)] = "No model uses it: it " + one.why + ".";
  }
  return view;
}

void write_making(Markup& out, const ReportOptions& options) {
  out.element("p", "The same table and the same options give the same page, to the byte, on every machine.");
  out.element("pre", {{"tabindex", 0}}, [&] { out.element("code", options.command); });
  if (options.seconds.empty()) return;
  DataTable table{"Seconds that each part took", {"part", "seconds"}, {Cell::text, Cell::number}, {}};
  for (const auto& [part, seconds] : options.seconds) table.rows.push_back({part, fmt::format("{:.2f}", seconds)});
  write_table(out, table);
}

}  // namespace

std::string made_by() {
  return "Made by stope " + std::string(version()) +
         ". The page holds all it shows: it loads nothing and runs no script.";
}

std::string report_page(const Findings& findings, const ReportOptions& options, const RunOptions& run) {
  const Subject& subject = findings.subject;
  Document document;
  document.title = "Report on " + in_quotes(subject.name);
  document.subtitle = grouped(subject.table.n_rows, "row") + ", " +
                      grouped(std::ssize(subject.table.columns), "column") +
                      (subject.label < 0 ? std::string() : ", label " + in_quotes(subject.label_column()->name));
  document.made_by = made_by();
  const auto add = [&](const char* id, const char* title, std::function<void(Markup&)> write) {
    document.sections.push_back({id, title, std::move(write)});
  };
  // A part that does not apply has neither a finding nor a reason.
  const auto part = [&](const char* id, const char* title, const auto& outcome, const auto& write) {
    if (!outcome.found && outcome.why.empty()) return;
    add(id, title, [&outcome, write](Markup& out) {
      outcome.found ? write(out, *outcome.found) : write_absence(out, outcome.why);
    });
  };
  add("summary", "Summary", [&](Markup& out) { write_summary(out, findings, options.warnings); });
  add("table", "The table", [&](Markup& out) { write_overview(out, subject, run); });
  part("best-cuts", "Best cuts", findings.cuts,
       [&](Markup& out, const CutsFound& found) { write_cuts(out, found, subject); });
  part("correlation", "Correlations", findings.correlations,
       [&](Markup& out, const std::vector<LabelCorrelation>& found) {
         write_correlations(out, found, subject.label_column()->name);
       });
  add("columns", "Columns",
      [&](Markup& out) { write_columns(out, subject, view_of_columns(findings, options.most_cards), run); });
  part("neighbours", "Nearest neighbours", findings.neighbors, [](Markup& out, const NeighborsFound& found) {
    write_neighbors(out, found);
    if (!found.evaluation.label_is_nominal) return;
    const EvaluationOfK& best = found.evaluation.of_k[found.evaluation.best];
    out.element("h3", "Confusions of k = " + std::to_string(best.k));
    write_confusion(out, best.classification, "confusion",
                    best.k == 1 ? "The nearest row" : "The vote of the " + std::to_string(best.k) + " nearest rows");
  });
  part("tree", "Decision tree", findings.tree,
       [&](Markup& out, const TreeFound& found) { write_tree(out, found, subject.classes); });
  part("least-squares", "Least squares", findings.linear,
       [](Markup& out, const LinearFound& found) { write_linear(out, found); });
  part("pca", "Principal components", findings.components,
       [&](Markup& out, const ComponentsFound& found) { write_components(out, found, subject.classes); });
  add("making", "About this page", [&](Markup& out) { write_making(out, options); });
  return document_text(document);
}

}  // namespace stope::cli::page
