#include "page/value_bars.hpp"

#include <algorithm>

#include "page/label.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr double kWidth = 320, kLine = 23, kBar = 15, kTop = 3, kLeft = 140, kRight = 262;

void draw_line(Markup& out, const ClassCounts& counts, const ClassList& classes, std::size_t value, double per_row) {
  const double top = kTop + static_cast<double>(value) * kLine, middle = top + kBar / 2 + 4;
  out.element("text", {{"class", "end"}, {"x", kLeft - 8}, {"y", middle}}, [&] {
    out.label("title", {}, counts.values[value]);
    out.label(fitted(counts.values[value], kLeft - 10));
  });
  double x = kLeft;
  for (std::size_t g = 0; g < classes.size(); ++g) {
    const double width = static_cast<double>(counts.counts[g][value]) * per_row;
    if (counts.counts[g][value] == 0) continue;
    const double gap = width > 3 ? 1 : 0;
    out.empty("rect", {{"class", textured_fill(classes, g)},
                       {"x", x},
                       {"y", top},
                       {"width", std::max(0.6, width - gap)},
                       {"height", kBar}});
    x += width;
  }
  out.label("text", {{"class", "soft"}, {"x", std::max(x, kLeft + 1) + 5}, {"y", middle}},
            grouped(counts.in_bin(value)));
}

DataTable numbers_of(const ColumnStatistics& statistics, const ClassCounts& counts, const ClassList& classes) {
  DataTable table{"Rows with each value of " + in_quotes(statistics.name), {"value"}, {Cell::text}, {}};
  for (std::size_t g = 0; g < classes.size(); ++g) {
    table.heads.push_back(classes.size() > 1 ? as_name(classes.names[g]) : "rows");
    table.cells.push_back(Cell::number);
  }
  table.rows.reserve(counts.values.size());
  for (std::size_t v = 0; v < counts.values.size(); ++v) {
    std::vector<std::string> row = {as_name(counts.values[v])};
    for (std::size_t g = 0; g < classes.size(); ++g) row.push_back(grouped(counts.counts[g][v]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void write_value_bars(Markup& out, Figure figure, const ColumnStatistics& statistics, const ClassCounts& counts,
                      const ClassList& classes) {
  std::int64_t most = 1;
  for (std::size_t v = 0; v < counts.values.size(); ++v) most = std::max(most, counts.in_bin(v));
  const double per_row = (kRight - kLeft) / static_cast<double>(most);
  figure.size = {kWidth, 2 * kTop + static_cast<double>(counts.values.size()) * kLine};
  figure.title = "Values of " + in_quotes(statistics.name) + (classes.size() > 1 ? " by class" : "");
  const auto draw = [&](Markup& svg) {
    for (std::size_t v = 0; v < counts.values.size(); ++v) draw_line(svg, counts, classes, v, per_row);
  };
  write_figure(out, figure, draw, numbers_of(statistics, counts, classes));
}

}  // namespace stope::cli::page
