#include "page/scatter.hpp"

#include <algorithm>
#include <cmath>

#include "page/axis.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr double kWidth = 680, kHeight = 470, kLeft = 56, kRight = 664, kTop = 26, kBottom = 420, kInset = 12;

Scale scale_of(const std::vector<double>& values, double from, double to) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high, from, to};
}

void draw_axes(Markup& out, const Scatter& scatter, const Scale& x, const Scale& y) {
  const auto line = [&](double x0, double y0, const std::string& rest) {
    out.empty("path", {{"class", "grid"}, {"d", "M" + attribute_number(x0) + " " + attribute_number(y0) + rest}});
  };
  const std::vector<double> down = round_values(y.low, y.high, 6), along = round_values(x.low, x.high, 8);
  for (const double value : down) {
    line(kLeft, y.at(value), "H" + attribute_number(kRight));
    out.label("text", {{"class", "soft end"}, {"x", kLeft - 8}, {"y", y.at(value) + 4}},
              tick_text(value, down.size() > 1 ? down[1] - down[0] : 1));
  }
  for (const double value : along) {
    line(x.at(value), kTop, "V" + attribute_number(kBottom));
    out.label("text", {{"class", "soft mid"}, {"x", x.at(value)}, {"y", kBottom + 18}},
              tick_text(value, along.size() > 1 ? along[1] - along[0] : 1));
  }
  out.label("text", {{"class", "soft"}, {"x", 4}, {"y", 14}}, scatter.y_name);
  out.label("text", {{"class", "soft end"}, {"x", kRight}, {"y", kHeight - 10}}, scatter.x_name);
}

}  // namespace

void write_scatter(Markup& out, Figure figure, const Scatter& scatter, const ClassList& classes,
                   const DataTable& numbers) {
  figure.size = {kWidth, kHeight};
  figure.narrow = Narrow::scroll;
  const Scale x = scale_of(scatter.x, kLeft + kInset, kRight - kInset);
  const Scale y = scale_of(scatter.y, kBottom - kInset, kTop + kInset);
  const auto draw = [&](Markup& svg) {
    draw_axes(svg, scatter, x, y);
    // Classes take turns, so that the last one does not cover all others.
    constexpr std::size_t kTurn = 200;
    for (std::size_t first = 0; first < scatter.x.size(); first += kTurn) {
      std::vector<std::string> paths(classes.size());
      for (std::size_t i = first; i < std::min(first + kTurn, scatter.x.size()); ++i) {
        const auto group = static_cast<std::size_t>(scatter.groups[i]);
        paths[group] += mark_path(color_of(classes, group), x.at(scatter.x[i]), y.at(scatter.y[i]));
      }
      for (std::size_t group = 0; group < paths.size(); ++group) {
        if (paths[group].empty()) continue;
        svg.empty("path", {{"class", "m s" + std::to_string(color_of(classes, group))},
                           {"stroke-opacity", 0.75},
                           {"d", paths[group]}});
      }
    }
  };
  write_figure(out, figure, draw, numbers);
}

}  // namespace stope::cli::page
