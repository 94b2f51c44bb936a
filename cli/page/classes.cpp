#include "page/classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kRestColor = kMostClasses;

}  // namespace

ClassList class_list(const Column& label) {
  const std::size_t n = label.values.size();
  std::vector<std::int64_t> counts(n, 0);
  for (std::int64_t row = 0; row < label.size(); ++row) {
    if (!label.missing(row)) ++counts[static_cast<std::size_t>(label.codes()[row])];
  }
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return counts[static_cast<std::size_t>(a)] > counts[static_cast<std::size_t>(b)];
  });
  const auto present = static_cast<std::size_t>(
      std::count_if(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; }));
  const std::size_t own = present <= kMostClasses ? present : kMostClasses - 1;
  order.resize(own);
  std::sort(order.begin(), order.end());
  ClassList list;
  list.group_of.assign(n, -1);
  for (const std::int32_t code : order) {
    list.group_of[static_cast<std::size_t>(code)] = static_cast<std::int32_t>(list.names.size());
    list.names.push_back(label.values[code]);
    list.rows.push_back(counts[static_cast<std::size_t>(code)]);
  }
  list.n_rest = static_cast<std::int64_t>(present - own);
  if (list.n_rest == 0) return list;
  const std::int64_t shown = std::accumulate(list.rows.begin(), list.rows.end(), std::int64_t{0});
  list.rows.push_back(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) - shown);
  list.names.push_back(fmt::format("{} others", list.n_rest));
  for (std::int32_t& group : list.group_of) group = group < 0 ? static_cast<std::int32_t>(own) : group;
  return list;
}

ClassList no_classes(std::int64_t n_rows) {
  return {{""}, {}, {n_rows}, 0};
}

std::size_t color_of(const ClassList& classes, std::size_t group) {
  return classes.n_rest > 0 && group + 1 == classes.size() ? kRestColor : group;
}

std::string plain_fill(const ClassList& classes, std::size_t group) {
  return "f" + std::to_string(color_of(classes, group));
}

std::string textured_fill(const ClassList& classes, std::size_t group) {
  const std::size_t color = color_of(classes, group);
  return (color == 0 ? "f" : "t") + std::to_string(color);
}

std::string mark_path(std::size_t color, double x, double y) {
  const auto at = [&](double dx, double dy) { return attribute_number(x + dx) + " " + attribute_number(y + dy); };
  switch (color) {
    case 0: return "M" + at(-3, 0) + "a3 3 0 1 0 6 0a3 3 0 1 0-6 0";
    case 1: return "M" + at(0, -3.6) + "l3.4 6h-6.8z";
    case 2: return "M" + at(-2.7, -2.7) + "h5.4v5.4h-5.4z";
    case 3: return "M" + at(-2.6, -2.6) + "l5.2 5.2m0-5.2l-5.2 5.2";
    case 4: return "M" + at(0, -3.8) + "l3.2 3.8l-3.2 3.8l-3.2-3.8z";
    case 5: return "M" + at(-3.4, 0) + "h6.8m-3.4-3.4v6.8";
    default: return "M" + at(-1.6, 0) + "h3.2";
  }
}

void write_legend(Markup& out, const ClassList& classes, Key key) {
  if (classes.size() < 2) return;
  out.element("ul", {{"class", "legend"}, {"aria-label", "Classes"}}, [&] {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      out.element("li", [&] {
        out.element("svg",
                    {{"xmlns", "http://www.w3.org/2000/svg"}, {"width", 16}, {"height", 14}, {"aria-hidden", "true"}},
                    [&] {
                      if (key == Key::texture) {
                        out.empty("rect", {{"class", textured_fill(classes, i)}, {"width", 16}, {"height", 14}});
                      } else {
                        const std::size_t color = color_of(classes, i);
                        out.empty("path", {{"class", "m s" + std::to_string(color)}, {"d", mark_path(color, 8, 7)}});
                      }
                    });
        out.name(cut_off(classes.names[i], 60));
        out.element("span", {{"class", "soft"}}, grouped(classes.rows[i], "row"));
      });
    }
  });
}

}  // namespace stope::cli::page
