#include "page/parts/columns.hpp"

#include <algorithm>
#include <cmath>

#include "page/class_counts.hpp"
#include "page/histogram.hpp"
#include "page/value_bars.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kMostListed = 1000;
constexpr std::size_t kNameLetters = 60;

double share(std::int64_t part, std::int64_t of) {
  return of == 0 ? kNoNumber : static_cast<double>(part) / static_cast<double>(of);
}

std::string missing_words(const ColumnStatistics& facts) {
  return facts.missing == 0 ? "none missing" : percent(share(facts.missing, facts.rows)) + " missing";
}

// Lines break between facts only.
std::string facts_words(const ColumnStatistics& facts) {
  if (facts.count == 0) return "no value";
  std::vector<std::string> parts;
  if (is_nominal(facts.type)) {
    parts.push_back(grouped(facts.distinct.value_or(std::ssize(facts.values)), "value"));
  } else {
    parts.push_back(value_of_type(facts.type, facts.min) + " to " + value_of_type(facts.type, facts.max));
    if (facts.type != ValueType::date) {
      parts.push_back("mean " + number(facts.mean) +
                      (std::isnan(facts.deviation) ? std::string() : " ± " + number(facts.deviation)));
    }
    if (facts.distinct) parts.push_back(grouped(*facts.distinct) + " different");
  }
  parts.push_back(missing_words(facts));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "\u00a0· ") + unbroken(part);
  return text;
}

void write_card(Markup& out, const Subject& subject, std::int64_t at, const ColumnsView& view, const RunOptions& run) {
  const Column& column = subject.table.columns[static_cast<std::size_t>(at)];
  const ColumnStatistics& facts = subject.of(at);
  const std::string id = "column-" + std::to_string(at + 1);
  out.element("article", {{"class", "card"}, {"aria-labelledby", id + "-name"}}, [&] {
    out.element("div", {{"class", "head"}}, [&] {
      out.element("h3", {{"id", id + "-name"}}, [&] { out.name(cut_off(column.name, kNameLetters)); });
      const bool regular = column.role == Role::regular;
      out.element("span", {{"class", "kind"}},
                  kind_words(column.type) + (regular ? "" : ", " + std::string(to_string(column.role))));
    });
    const std::string words = facts_words(facts);
    out.element("p", {{"class", "facts"}}, words);
    const auto remark = view.remarks.find(at);
    if (remark != view.remarks.end()) out.element("p", {{"class", "cut"}}, remark->second);
    if (facts.count == 0) return;
    const Column* label = subject.classifies() && at != subject.label ? subject.label_column() : nullptr;
    const ClassList& classes = label == nullptr ? no_classes(subject.table.n_rows) : subject.classes;
    const ClassCounts counts = count_classes(column, facts, label, classes, run);
    Figure figure;
    figure.id = id;
    figure.message = words + "." + (remark == view.remarks.end() ? "" : " " + remark->second);
    const auto cut = view.cuts.find(at);
    if (column.nominal()) {
      write_value_bars(out, figure, facts, counts, classes);
    } else {
      write_histogram(out, figure, facts, counts, classes,
                      cut == view.cuts.end() ? std::nullopt : std::optional(cut->second));
    }
  });
}

DataTable list_of_others(const Subject& subject, const ColumnsView& view, std::size_t first) {
  DataTable table{"The other columns",
                  {"column", "type", "missing", "different", "least", "mean", "greatest"},
                  {Cell::text, Cell::text, Cell::number, Cell::number, Cell::number, Cell::number, Cell::number},
                  {}};
  const std::size_t end = std::min(view.order.size(), first + kMostListed);
  table.rows.reserve(end - first);
  for (std::size_t i = first; i < end; ++i) {
    const ColumnStatistics& facts = subject.of(view.order[i]);
    const bool numeric = !is_nominal(facts.type) && facts.count > 0;
    table.rows.push_back({as_name(facts.name), kind_words(facts.type), percent(share(facts.missing, facts.rows)),
                          facts.distinct ? grouped(*facts.distinct) : number(kNoNumber),
                          numeric ? value_of_type(facts.type, facts.min) : number(kNoNumber),
                          numeric && facts.type != ValueType::date ? number(facts.mean) : number(kNoNumber),
                          numeric ? value_of_type(facts.type, facts.max) : number(kNoNumber)});
  }
  return table;
}

}  // namespace

std::string kind_words(ValueType type) {
  if (is_nominal(type)) return "nominal";
  return type == ValueType::real ? "numeric" : std::string(to_string(type));
}

ColumnsView plain_view(const Subject& subject) {
  ColumnsView view;
  for (std::int64_t i = 0; i < std::ssize(subject.table.columns); ++i) {
    if (i != subject.label) view.order.push_back(i);
  }
  return view;
}

void write_columns(Markup& out, const Subject& subject, const ColumnsView& view, const RunOptions& run) {
  const std::size_t cards = std::min(view.most_cards, view.order.size());
  std::string text;
  if (subject.classes.size() > 1) {
    text =
        "Histograms have a strip for each class, as high as the bin's share of the class. Bars of values are as "
        "long as a value is frequent and divided by class.";
    if (!view.cuts.empty()) text += " A dashed line is the best cut.";
  }
  if (!view.order_words.empty()) text += (text.empty() ? "" : " ") + view.order_words;
  if (!text.empty()) out.element("p", {{"class", "soft small"}}, text);
  write_legend(out, subject.classes, Key::texture);
  out.element("div", {{"class", "cards"}}, [&] {
    for (std::size_t i = 0; i < cards; ++i) write_card(out, subject, view.order[i], view, run);
  });
  if (cards == view.order.size()) return;
  const std::size_t listed = std::min(kMostListed, view.order.size() - cards),
                    rest = view.order.size() - cards - listed;
  out.element(
      "p", "The other " + grouped(static_cast<std::int64_t>(view.order.size() - cards), "column") +
               " have no picture here. " +
               (rest == 0 ? "The table lists them."
                          : "The table lists the first " + grouped(static_cast<std::int64_t>(listed)) + " of them; " +
                                grouped(static_cast<std::int64_t>(rest)) + " are left out of this page."));
  write_folded_table(out, list_of_others(subject, view, cards), "Other columns");
}

}  // namespace stope::cli::page
