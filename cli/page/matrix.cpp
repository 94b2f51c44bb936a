#include "page/matrix.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "page/label.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr double kLeft = 150, kTop = 62, kHeight = 46, kMargin = 4;

// Middle shades are left out: neither dark nor light figures would be readable on them.
constexpr double shade_of(double share) {
  constexpr std::array<double, 6> kShades = {0.05, 0.12, 0.22, 0.8, 0.9, 1.0};
  const auto step = static_cast<std::size_t>(share * 5.999);
  return share <= 0 ? 0 : kShades[std::min(step, kShades.size() - 1)];
}

void draw_cell(Markup& out, double x, double y, double width, std::int64_t count, std::int64_t total, bool hit) {
  const double share = total == 0 ? 0 : static_cast<double>(count) / static_cast<double>(total);
  const double shade = shade_of(share);
  if (shade > 0) {
    out.empty("rect", {{"class", "cell"},
                       {"x", x},
                       {"y", y},
                       {"width", width - 3},
                       {"height", kHeight - 3},
                       {"rx", 3},
                       {"fill-opacity", shade}});
  }
  out.empty("rect", {{"class", hit ? "frame right" : "frame"},
                     {"x", x},
                     {"y", y},
                     {"width", width - 3},
                     {"height", kHeight - 3},
                     {"rx", 3}});
  const std::string on = shade > 0.5 ? " on" : "";
  const double middle = x + (width - 3) / 2;
  out.label("text", {{"class", "mid bold" + on}, {"x", middle}, {"y", y + 19}}, grouped(count));
  out.label("text", {{"class", (shade > 0.5 ? "mid" : "soft mid") + on}, {"x", middle}, {"y", y + 35}}, percent(share));
}

}  // namespace

void write_matrix(Markup& out, Figure figure, const Matrix& matrix, const DataTable& numbers) {
  const std::size_t n = matrix.predictions.size();
  const double width = n <= 4 ? 112 : n <= 8 ? 86 : 72;
  figure.size = {std::max(kLeft + static_cast<double>(n) * width + kMargin, 330.0),
                 kTop + static_cast<double>(matrix.truths.size()) * kHeight + kMargin};
  figure.narrow = Narrow::scroll;
  const auto draw = [&](Markup& svg) {
    svg.label("text", {{"class", "soft"}, {"x", kLeft}, {"y", 16}}, "predicted");
    svg.label("text", {{"class", "soft end"}, {"x", kLeft - 12}, {"y", kTop - 14}}, "true");
    for (std::size_t p = 0; p < n; ++p) {
      svg.element("text",
                  {{"class", "mid"}, {"x", kLeft + (static_cast<double>(p) + 0.5) * width - 1.5}, {"y", kTop - 14}},
                  [&] {
                    svg.label("title", {}, matrix.predictions[p]);
                    svg.label(fitted(matrix.predictions[p], width - 6));
                  });
    }
    for (std::size_t t = 0; t < matrix.truths.size(); ++t) {
      const double y = kTop + static_cast<double>(t) * kHeight;
      svg.element("text", {{"class", "end"}, {"x", kLeft - 12}, {"y", y + 26}}, [&] {
        svg.label("title", {}, matrix.truths[t]);
        svg.label(fitted(matrix.truths[t], kLeft - 14));
      });
      const auto& row = matrix.counts[t];
      const std::int64_t total = std::accumulate(row.begin(), row.end(), std::int64_t{0});
      for (std::size_t p = 0; p < n; ++p) {
        draw_cell(svg, kLeft + static_cast<double>(p) * width, y, width, row[p], total, p == t);
      }
    }
  };
  write_figure(out, figure, draw, numbers);
}

}  // namespace stope::cli::page
