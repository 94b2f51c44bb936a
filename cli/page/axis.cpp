#include "page/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/words.hpp"

namespace stope::cli::page {

double Scale::at(double value) const {
  // Halves keep the difference of two huge numbers finite.
  const double width = high / 2 - low / 2;
  if (!(width > 0)) return (from + to) / 2;
  return from + (to - from) * std::clamp((value / 2 - low / 2) / width, 0.0, 1.0);
}

std::vector<double> round_values(double low, double high, int most) {
  if (!(high > low) || !std::isfinite(high - low) || high - low < 1e-300) return {low};
  const double rough = (high - low) / std::max(1, most);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> values;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= most + 1; ++i) {
    const double value = (first + i) * step;
    if (value > high + step * 1e-9) break;
    values.push_back(value == 0 ? 0.0 : value);
  }
  return values.empty() ? std::vector<double>{low} : values;
}

std::string tick_text(double value, double step) {
  const double size = std::max(std::fabs(value), std::fabs(step));
  if (size >= 10000 || (value != 0 && size < 1e-4)) return number(value);
  constexpr int kMostDecimals = 6;
  int decimals = 0;
  for (double scaled = std::fabs(step); decimals < kMostDecimals; ++decimals, scaled *= 10) {
    if (std::fabs(scaled - std::round(scaled)) < 1e-6 * scaled) break;
  }
  const std::string text = fmt::format("{:.{}f}", std::fabs(value), decimals);
  return value < 0 ? "−" + text : text;
}

void draw_x_axis(Markup& out, const Scale& x, double y, ValueType type, int most) {
  out.empty("path", {{"class", "axis"},
                     {"d", "M" + attribute_number(x.from) + " " + attribute_number(y) + "H" + attribute_number(x.to)}});
  const auto tick = [&](double value, const std::string& text, const char* anchor) {
    const double at = x.at(value);
    out.empty("path", {{"class", "axis"}, {"d", "M" + attribute_number(at) + " " + attribute_number(y) + "v4"}});
    out.label("text", {{"class", std::string("soft ") + anchor}, {"x", at}, {"y", y + 16}}, text);
  };
  if (type == ValueType::date || !std::isfinite(x.high - x.low) || !(x.high > x.low)) {
    if (!(x.high > x.low)) return tick(x.low, value_of_type(type, x.low), "mid");
    tick(x.low, value_of_type(type, x.low), "");
    tick(x.high, value_of_type(type, x.high), "end");
    return;
  }
  const std::vector<double> values = round_values(x.low, x.high, most);
  const double step = values.size() > 1 ? values[1] - values[0] : x.high - x.low;
  for (const double value : values) {
    const bool last = x.to - x.at(value) < 14, first = x.at(value) - x.from < 8;
    tick(value, values.size() > 1 ? tick_text(value, step) : value_of_type(type, value),
         last                   ? "end"
         : first && x.from < 20 ? ""
                                : "mid");
  }
}

}  // namespace stope::cli::page
