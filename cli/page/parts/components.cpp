#include "page/parts/components.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "page/bars.hpp"
#include "page/command_line.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kMostBars = 12;
constexpr std::size_t kMostLoadings = 30;

std::string axis_name(const Pca& pca, std::size_t i) {
  return "component " + std::to_string(i + 1) + ", " + percent(pca.explained_variance_ratio()[i]) + " of the variance";
}

// The columns that weigh most in the first two components.
DataTable loadings(const Pca& pca) {
  const auto n = static_cast<std::size_t>(pca.n_features());
  const std::size_t components = std::min<std::size_t>(2, pca.explained_variance().size());
  const auto weight = [&](std::size_t component, std::size_t feature) {
    return pca.components()[static_cast<std::int64_t>(component * n + feature)];
  };
  const auto strength = [&](std::size_t feature) {
    double most = 0;
    for (std::size_t c = 0; c < components; ++c) most = std::max(most, std::fabs(weight(c, feature)));
    return most;
  };
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strength(a) > strength(b); });
  const std::size_t shown = std::min(kMostLoadings, n);
  DataTable table{shown < n ? "The " + std::to_string(shown) + " columns that weigh most" : "Weights of the columns",
                  {"column"},
                  {Cell::text},
                  {}};
  for (std::size_t c = 0; c < components; ++c) {
    table.heads.push_back("component " + std::to_string(c + 1));
    table.cells.push_back(Cell::number);
  }
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> row = {as_name(pca.feature_names()[order[i]])};
    for (std::size_t c = 0; c < components; ++c) row.push_back(number(weight(c, order[i])));
    table.rows.push_back(std::move(row));
  }
  return table;
}

DataTable variances(const Pca& pca, std::size_t shown) {
  DataTable table{"Variance of the components",
                  {"component", "variance", "share", "cumulated"},
                  {Cell::text, Cell::number, Cell::number, Cell::number},
                  {}};
  double sum = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    sum += pca.explained_variance_ratio()[i];
    table.rows.push_back({std::to_string(i + 1), number(pca.explained_variance()[i]),
                          percent(pca.explained_variance_ratio()[i]), percent(std::min(1.0, sum))});
  }
  return table;
}

void write_variances(Markup& out, const Pca& pca) {
  const std::size_t shown = std::min(kMostBars, pca.explained_variance().size());
  if (shown <= 2) return;
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < shown; ++i) {
    const double share = pca.explained_variance_ratio()[i];
    bars.push_back({"component " + std::to_string(i + 1), share, kNoNumber, kNoNumber, percent(share)});
  }
  write_bars(out,
             {"variances",
              "Variance of the components",
              "The first component has " + bars.front().text + ".",
              "Share of the variance of all columns that each component has.",
              {},
              Narrow::scroll},
             bars, variances(pca, shown));
}

}  // namespace

void take_points(ComponentsFound& found, const Table& scores, const Column* label, const ClassList& classes) {
  const std::int64_t first = scores.find("pc1"), second = scores.find("pc2");
  if (first < 0 || second < 0) return;
  const Column& x = scores.columns[static_cast<std::size_t>(first)];
  const Column& y = scores.columns[static_cast<std::size_t>(second)];
  const std::int64_t step = (scores.n_rows + kMostPoints - 1) / kMostPoints;
  for (std::int64_t row = 0; row < scores.n_rows; row += std::max<std::int64_t>(1, step)) {
    const bool classed = label != nullptr && label->nominal();
    if (classed && label->missing(row)) continue;
    found.scatter.x.push_back(x.at(row));
    found.scatter.y.push_back(y.at(row));
    found.scatter.groups.push_back(classed ? classes.group_of[static_cast<std::size_t>(label->codes()[row])] : 0);
  }
  if (step > 1) {
    found.points =
        "The figure shows " + grouped(std::ssize(found.scatter.x), "row") + ", one of every " + grouped(step) + ".";
  }
  found.scatter.x_name = axis_name(found.pca, 0);
  found.scatter.y_name = axis_name(found.pca, 1);
}

void write_components(Markup& out, const ComponentsFound& found, const ClassList& classes) {
  const std::vector<double>& ratio = found.pca.explained_variance_ratio();
  const double both = ratio.empty() ? kNoNumber : ratio[0] + (ratio.size() > 1 ? ratio[1] : 0);
  const std::string message = ratio.size() > 1
                                  ? "The first two principal components have " + percent(std::min(1.0, both)) +
                                        " of the variance of " + grouped(found.pca.n_features(), "numeric column") + "."
                                  : "There is one principal component.";
  out.element("p", message);
  out.element("p", {{"class", "soft small"}}, "Fitted to " + found.rows + ". " + found.method);
  if (!found.scatter.x.empty()) {
    write_legend(out, classes, Key::mark);
    std::string caption = "Each mark is a row. Marks that lie close have similar values in the columns that vary most.";
    if (!found.points.empty()) caption += " " + found.points;
    write_scatter(out,
                  {"components", "Rows in the plane of the first two components", message, caption, {}, Narrow::scroll},
                  found.scatter, classes, loadings(found.pca));
  }
  write_variances(out, found.pca);
  write_command(out, found.command);
}

}  // namespace stope::cli::page
