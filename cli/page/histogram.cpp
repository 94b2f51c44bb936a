#include "page/histogram.hpp"

#include <algorithm>

#include "page/axis.hpp"
#include "page/label.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr double kWidth = 320, kRight = 316, kStrip = 30, kGap = 5, kTop = 6, kAxis = 22;
constexpr double kNames = 104;  // room for the names of classes
constexpr double kAlone = 84;   // height where there are no classes

struct Layout {
  double left, strip;
  double bottom(std::size_t group) const { return kTop + static_cast<double>(group + 1) * (strip + kGap) - kGap; }
};

Layout layout_of(const ClassList& classes) {
  return classes.size() > 1 ? Layout{kNames, kStrip} : Layout{4, kAlone};
}

double share(const ClassCounts& counts, std::size_t group, std::size_t bin) {
  const std::int64_t total = counts.total(group);
  return total == 0 ? 0.0 : static_cast<double>(counts.counts[group][bin]) / static_cast<double>(total);
}

double highest_share(const ClassCounts& counts) {
  double highest = 0;
  for (std::size_t g = 0; g < counts.counts.size(); ++g) {
    for (std::size_t b = 0; b < counts.n_bins(); ++b) highest = std::max(highest, share(counts, g, b));
  }
  return highest;
}

// One path for all bars of a class: far fewer bytes than a rectangle each.
std::string bars(const ClassCounts& counts, std::size_t group, const Layout& layout, double highest) {
  const double n = static_cast<double>(counts.n_bins()), width = (kRight - layout.left) / n;
  const double bottom = layout.bottom(group);
  std::string path;
  for (std::size_t b = 0; b < counts.n_bins(); ++b) {
    const double part = share(counts, group, b);
    if (part <= 0) continue;
    const double height = std::max(1.0, part / highest * layout.strip);  // one row among a million is seen, too
    path += "M" + attribute_number(layout.left + static_cast<double>(b) * width + 0.5) + " " +
            attribute_number(bottom) + "v" + attribute_number(-height) + "h" + attribute_number(width - 1) + "v" +
            attribute_number(height) + "z";
  }
  return path;
}

DataTable numbers_of(const ColumnStatistics& statistics, const ClassCounts& counts, const ClassList& classes) {
  DataTable table{
      "Rows in each bin of " + in_quotes(statistics.name), {"from", "to"}, {Cell::number, Cell::number}, {}};
  if (counts.whole) table = {"Rows with each number of " + in_quotes(statistics.name), {"number"}, {Cell::number}, {}};
  for (std::size_t g = 0; g < classes.size(); ++g) {
    table.heads.push_back(classes.size() > 1 ? as_name(classes.names[g]) : "rows");
    table.cells.push_back(Cell::number);
  }
  const ValueType type = statistics.type == ValueType::integer ? ValueType::real : statistics.type;
  const double n = static_cast<double>(counts.n_bins());
  const auto end_of = [&](double bins) {
    return value_of_type(type, counts.low * (1 - bins / n) + counts.high * (bins / n));
  };
  table.rows.reserve(counts.n_bins());
  for (std::size_t b = 0; b < counts.n_bins(); ++b) {
    const auto at = static_cast<double>(b);
    std::vector<std::string> row = counts.whole
                                       ? std::vector<std::string>{value_of_type(statistics.type, counts.low + 0.5 + at)}
                                       : std::vector<std::string>{end_of(at), end_of(at + 1)};
    for (std::size_t g = 0; g < classes.size(); ++g) row.push_back(grouped(counts.counts[g][b]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void draw(Markup& out, const ColumnStatistics& statistics, const ClassCounts& counts, const ClassList& classes,
          std::optional<double> cut) {
  const Layout layout = layout_of(classes);
  const double highest = highest_share(counts), bottom = layout.bottom(classes.size() - 1);
  for (std::size_t g = 0; g < classes.size(); ++g) {
    if (classes.size() > 1) {
      out.element("text", {{"class", "end"}, {"x", layout.left - 10}, {"y", layout.bottom(g) - layout.strip / 2 + 4}},
                  [&] {
                    out.label("title", {}, classes.names[g]);
                    out.label(fitted(classes.names[g], kNames - 12));
                  });
    }
    out.empty("path", {{"class", "grid"},
                       {"d", "M" + attribute_number(layout.left) + " " + attribute_number(layout.bottom(g)) + "H" +
                                 attribute_number(kRight)}});
    if (highest > 0) {
      out.empty("path", {{"class", plain_fill(classes, g)}, {"d", bars(counts, g, layout, highest)}});
    }
  }
  const Scale x{counts.low, counts.high, layout.left, kRight};
  draw_x_axis(out, x, bottom, statistics.type, 4);
  if (cut && *cut > counts.low && *cut <= counts.high) {
    out.empty("path",
              {{"class", "cutline"}, {"d", "M" + attribute_number(x.at(*cut)) + " 1V" + attribute_number(bottom + 4)}});
  }
}

}  // namespace

void write_histogram(Markup& out, Figure figure, const ColumnStatistics& statistics, const ClassCounts& counts,
                     const ClassList& classes, std::optional<double> cut) {
  const Layout layout = layout_of(classes);
  figure.size = {kWidth, layout.bottom(classes.size() - 1) + kAxis};
  figure.title = "Histogram of " + in_quotes(statistics.name) + (classes.size() > 1 ? " by class" : "");
  write_figure(
      out, figure, [&](Markup& svg) { draw(svg, statistics, counts, classes, cut); },
      numbers_of(statistics, counts, classes));
}

}  // namespace stope::cli::page
