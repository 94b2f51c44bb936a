#include "page/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "page/axis.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr double kWidth = 680, kHeight = 300, kLeft = 64, kRight = 660, kTop = 28, kBottom = 252;
constexpr std::size_t kMostNames = 16;  // points whose names fit side by side

std::string point(double x, double y) {
  return attribute_number(x) + " " + attribute_number(y);
}

Scale heights(const Curve& curve) {
  double low = curve.has_level ? curve.level : std::numeric_limits<double>::infinity(),
         high = curve.has_level ? curve.level : -std::numeric_limits<double>::infinity();
  for (const CurvePoint& one : curve.points) {
    for (const double value : {one.value, one.low, one.high}) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(low <= high)) low = high = 0;
  const double margin = std::max((high - low) * 0.08, std::max(std::fabs(high) * 1e-6, 1e-12));
  low = low >= 0 ? std::max(0.0, low - margin) : low - margin;
  high += margin;
  if (curve.shares) high = std::min(high, 1.0 + 1e-9);
  return {low, high, kBottom, kTop};
}

void draw_grid(Markup& out, const Curve& curve, const Scale& y) {
  const double unit = curve.shares ? 100 : 1;
  const std::vector<double> values = round_values(y.low * unit, y.high * unit, 5);
  const double step = values.size() > 1 ? values[1] - values[0] : 1;
  for (const double value : values) {
    const double at = y.at(value / unit);
    out.empty("path", {{"class", "grid"}, {"d", "M" + point(kLeft, at) + "H" + attribute_number(kRight)}});
    out.label("text", {{"class", "soft end"}, {"x", kLeft - 8}, {"y", at + 4}},
              tick_text(value, step) + (curve.shares ? " %" : ""));
  }
  out.label("text", {{"class", "soft"}, {"x", 4}, {"y", 14}}, curve.y_name);
  out.label("text", {{"class", "soft end"}, {"x", kRight}, {"y", kHeight - 6}}, curve.x_name);
}

void draw_points(Markup& out, const Curve& curve, const Scale& y) {
  const std::size_t n = curve.points.size();
  const auto x_of = [&](std::size_t i) {
    return n == 1 ? (kLeft + kRight) / 2
                  : kLeft + 24 + (kRight - kLeft - 48) * static_cast<double>(i) / static_cast<double>(n - 1);
  };
  std::string band, line;
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(curve.points[i].value)) continue;
    line += (line.empty() ? "M" : "L") + point(x_of(i), y.at(curve.points[i].value));
    band += (band.empty() ? "M" : "L") + point(x_of(i), y.at(curve.points[i].high));
  }
  for (std::size_t i = n; i-- > 0;) {
    if (std::isfinite(curve.points[i].value)) band += "L" + point(x_of(i), y.at(curve.points[i].low));
  }
  if (line.empty()) return;
  if (n > 1) out.empty("path", {{"class", "band"}, {"d", band + "z"}});
  if (n > 1) out.empty("path", {{"class", "curve"}, {"d", line}});
  const std::size_t each = (n + kMostNames - 1) / kMostNames;
  for (std::size_t i = 0; i < n; ++i) {
    const CurvePoint& one = curve.points[i];
    if (std::isfinite(one.value)) {
      if (n == 1) {
        out.empty("path", {{"class", "whisker"},
                           {"d", "M" + point(x_of(i), y.at(one.low)) + "V" + attribute_number(y.at(one.high))}});
      }
      const bool best = i == curve.best;
      out.empty("circle",
                {{"class", best ? "best" : "dot"}, {"cx", x_of(i)}, {"cy", y.at(one.value)}, {"r", best ? 5.5 : 4}});
    }
    if (i % each == 0 || i == curve.best) {
      out.label("text", {{"class", i == curve.best ? "mid bold" : "soft mid"}, {"x", x_of(i)}, {"y", kBottom + 20}},
                one.name);
    }
  }
}

}  // namespace

void write_curve(Markup& out, Figure figure, const Curve& curve, const DataTable& numbers) {
  figure.size = {kWidth, kHeight};
  figure.narrow = Narrow::scroll;
  const Scale y = heights(curve);
  const auto draw = [&](Markup& svg) {
    draw_grid(svg, curve, y);
    svg.empty("path", {{"class", "axis"}, {"d", "M" + point(kLeft, kBottom) + "H" + attribute_number(kRight)}});
    if (curve.has_level) {
      const double at = y.at(curve.level);
      svg.empty("path", {{"class", "base"}, {"d", "M" + point(kLeft, at) + "H" + attribute_number(kRight)}});
      svg.label("text", {{"class", "soft end"}, {"x", kRight - 4}, {"y", at > kBottom - 24 ? at - 6 : at + 16}},
                curve.level_name);
    }
    draw_points(svg, curve, y);
  };
  write_figure(out, figure, draw, numbers);
}

}  // namespace stope::cli::page
