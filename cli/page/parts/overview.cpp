#include "page/parts/overview.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "page/bars.hpp"
#include "page/class_counts.hpp"
#include "page/histogram.hpp"
#include "page/parts/columns.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kMostListed = 200;

std::string kinds_sentence(const Subject& subject) {
  std::map<std::string, std::int64_t> kinds, roles;
  for (const Column& column : subject.table.columns) {
    if (column.role == Role::regular) {
      ++kinds[kind_words(column.type)];
    } else if (column.role != Role::label) {
      ++roles[std::string(to_string(column.role))];
    }
  }
  std::vector<std::string> parts;
  parts.reserve(kinds.size());
  for (const auto& [kind, n] : kinds) parts.push_back(grouped(n) + " " + kind);
  std::string text = parts.empty() ? "There are no features." : "Features: " + list_of(parts) + ".";
  for (const auto& [role, n] : roles) text += " Columns of role " + role + ": " + grouped(n) + ".";
  return text;
}

void write_classes(Markup& out, const Subject& subject) {
  std::vector<Bar> bars;
  DataTable table{"Rows of each class", {"class", "rows", "share"}, {Cell::text, Cell::number, Cell::number}, {}};
  const double n = static_cast<double>(std::max<std::int64_t>(1, subject.table.n_rows));
  for (std::size_t g = 0; g < subject.classes.size(); ++g) {
    const std::int64_t rows = subject.classes.rows[g];
    const double share = static_cast<double>(rows) / n;
    bars.push_back({subject.classes.names[g], static_cast<double>(rows), kNoNumber, kNoNumber, percent(share)});
    table.rows.push_back({as_name(subject.classes.names[g]), grouped(rows), percent(share)});
  }
  const std::string name = in_quotes(subject.label_column()->name);
  write_bars(out,
             {"classes",
              "Classes of " + name,
              "Rows of each class of " + name + ".",
              "Rows of each class of the label " + name + ".",
              {},
              Narrow::scroll},
             bars, table);
}

void write_spread(Markup& out, const Subject& subject, const RunOptions& run) {
  const ColumnStatistics& facts = subject.of(subject.label);
  const ClassList all = no_classes(subject.table.n_rows);
  const ClassCounts counts = count_classes(*subject.label_column(), facts, nullptr, all, run);
  const std::string name = in_quotes(facts.name);
  write_histogram(
      out,
      {"label",
       "",
       "The mean is " + number(facts.mean) + ".",
       "The label " + name + ": mean " + number(facts.mean) + ", standard deviation " + number(facts.deviation) + ".",
       {},
       Narrow::fit},
      facts, counts, all, std::nullopt);
}

void write_left_out(Markup& out, const Subject& subject) {
  if (subject.left_out.empty()) return;
  out.element("h3", "Columns that no model uses");
  DataTable table{"Columns that no model of this page uses", {"column", "why"}, {Cell::text, Cell::text}, {}};
  for (std::size_t i = 0; i < std::min(kMostListed, subject.left_out.size()); ++i) {
    table.rows.push_back({as_name(subject.left_out[i].name), "It " + subject.left_out[i].why + "."});
  }
  if (subject.left_out.size() > kMostListed) {
    table.caption += ": the first " + std::to_string(kMostListed) + " of " + grouped(std::ssize(subject.left_out));
  }
  constexpr std::size_t kOpen = 12;
  subject.left_out.size() <= kOpen ? write_table(out, table) : write_folded_table(out, table, "List");
}

}  // namespace

void write_overview(Markup& out, const Subject& subject, const RunOptions& run) {
  out.element("p", in_quotes(subject.name) + " has " + grouped(subject.table.n_rows + subject.n_without_label, "row") +
                       " and " + grouped(std::ssize(subject.table.columns), "column") + ". " + kinds_sentence(subject));
  if (subject.n_without_label > 0) {
    out.element("p", grouped(subject.n_without_label, "row") + " without a label " +
                         (subject.n_without_label == 1 ? "is" : "are") + " left out of this page.");
  }
  if (subject.classifies() && subject.table.n_rows > 0) write_classes(out, subject);
  if (subject.regresses() && subject.of(subject.label).count > 0) write_spread(out, subject, run);
  write_left_out(out, subject);
}

}  // namespace stope::cli::page
