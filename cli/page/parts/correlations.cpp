// The correlations of the numeric columns with a numeric label (cli/page/parts/linear.hpp).
#include <algorithm>
#include <cmath>

#include "page/bars.hpp"
#include "page/parts/linear.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kMostBars = 20;
constexpr std::size_t kMostListed = 500;

// Sums of differences from the means, in the order of the rows.
Correlation correlation_of(const Column& column, const Column& label) {
  Correlation result{column.name, kNoNumber, 0};
  double x_sum = 0, y_sum = 0;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (column.missing(row) || label.missing(row)) continue;
    x_sum += column.at(row);
    y_sum += label.at(row);
    ++result.n;
  }
  constexpr std::int64_t kFewest = 3;  // two points always lie on a line
  if (result.n < kFewest) return result;
  const double n = static_cast<double>(result.n), x_mean = x_sum / n, y_mean = y_sum / n;
  double xx = 0, yy = 0, xy = 0;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (column.missing(row) || label.missing(row)) continue;
    const double x = column.at(row) - x_mean, y = label.at(row) - y_mean;
    xx += x * x;
    yy += y * y;
    xy += x * y;
  }
  result.r = std::clamp(xy / std::sqrt(xx) / std::sqrt(yy), -1.0, 1.0);
  return result;
}

}  // namespace

std::vector<Correlation> correlations_of(const Table& table, const Column& label, const RunOptions& run) {
  std::vector<Correlation> found;
  for (const std::int64_t i : table.features()) {
    run.cancel.check();
    const Column& column = table.columns[static_cast<std::size_t>(i)];
    if (column.nominal()) continue;
    Correlation one = correlation_of(column, label);
    if (std::isfinite(one.r)) found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Correlation& a, const Correlation& b) { return std::fabs(a.r) > std::fabs(b.r); });
  return found;
}

void write_correlations(Markup& out, const std::vector<Correlation>& correlations, const std::string& label) {
  if (correlations.empty()) {
    out.element("p", "No numeric column has a correlation with " + in_quotes(label) + ".");
    return;
  }
  const Correlation& first = correlations.front();
  const std::string message = in_quotes(first.name) + " has the strongest correlation with " + in_quotes(label) + ": " +
                              number(std::round(first.r * 1000) / 1000) + ".";
  out.element("p", message);
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min(kMostBars, correlations.size()); ++i) {
    const double r = correlations[i].r;
    bars.push_back({correlations[i].name, r, kNoNumber, kNoNumber, number(std::round(r * 1000) / 1000)});
  }
  DataTable table{"Correlation of each numeric column with the label",
                  {"column", "correlation", "rows"},
                  {Cell::text, Cell::number, Cell::number},
                  {}};
  for (std::size_t i = 0; i < std::min(kMostListed, correlations.size()); ++i) {
    table.rows.push_back({as_name(correlations[i].name), number(correlations[i].r), grouped(correlations[i].n)});
  }
  std::string caption = "Pearson's correlation with the label, from −1 to 1.";
  if (bars.size() < correlations.size()) {
    caption += " The strongest " + std::to_string(bars.size()) + " of " + grouped(std::ssize(correlations)) + ".";
  }
  write_bars(out, {"correlations", "Correlations", message, caption, {}, Narrow::scroll}, bars, table);
}

}  // namespace stope::cli::page
