#include "page/bars.hpp"

#include <algorithm>
#include <cmath>

#include "page/axis.hpp"
#include "page/label.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr double kLine = 26, kBar = 14, kTop = 4, kLength = 340, kText = 84;
constexpr double kNames = 200;  // room for names at most

void draw_bar(Markup& out, const Bar& bar, double top, const Scale& x) {
  const double middle = top + kBar / 2;
  out.element("text", {{"class", "end"}, {"x", x.from - 10}, {"y", middle + 4}}, [&] {
    out.label("title", {}, bar.name);
    out.label(fitted(bar.name, kNames));
  });
  const double zero = x.at(0), end = x.at(bar.value);
  out.empty("rect", {{"class", "plain"},
                     {"x", std::min(zero, end)},
                     {"y", top},
                     {"width", std::max(1.0, std::fabs(end - zero))},
                     {"height", kBar}});
  if (std::isfinite(bar.low) && std::isfinite(bar.high)) {
    const double low = x.at(bar.low), high = x.at(bar.high);
    const std::string y = attribute_number(middle);
    out.empty("path", {{"class", "whisker"},
                       {"d", "M" + attribute_number(low) + " " + y + "H" + attribute_number(high) + "M" +
                                 attribute_number(low) + " " + attribute_number(middle - 4) + "v8M" +
                                 attribute_number(high) + " " + attribute_number(middle - 4) + "v8"}});
  }
  const double last = std::isfinite(bar.high) ? std::max({zero, end, x.at(bar.high)}) : std::max(zero, end);
  out.label("text", {{"class", "soft"}, {"x", last + 8}, {"y", middle + 4}}, bar.text);
}

}  // namespace

void write_bars(Markup& out, Figure figure, const std::vector<Bar>& bars, const DataTable& numbers) {
  double low = 0, high = 0;
  for (const Bar& bar : bars) {
    for (const double value : {bar.value, bar.low, bar.high}) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  // Short names leave the bars more of a narrow page.
  double left = 0;
  for (const Bar& bar : bars) left = std::max(left, label_width(fitted(bar.name, kNames)));
  left += 14;
  const Scale x{low, high > low ? high : low + 1, left, left + kLength};
  figure.size = {left + kLength + kText, 2 * kTop + static_cast<double>(bars.size()) * kLine};
  figure.narrow = Narrow::scroll;
  const auto draw = [&](Markup& svg) {
    for (std::size_t i = 0; i < bars.size(); ++i) draw_bar(svg, bars[i], kTop + static_cast<double>(i) * kLine, x);
    svg.empty("path", {{"class", "axis"},
                       {"d", "M" + attribute_number(x.at(0)) + " 0V" + attribute_number(figure.size.height)}});
  };
  write_figure(out, figure, draw, numbers);
}

}  // namespace stope::cli::page
