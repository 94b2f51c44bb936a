// The correlations of the numeric columns with a numeric label (cli/page/parts/linear.hpp).
#include <algorithm>
#include <cmath>

#include "page/bars.hpp"
#include "page/parts/linear.hpp"
#include "page/words.hpp"
#include "stope/correlation.hpp"
#include "stope/error.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kMostBars = 20;
constexpr std::size_t kMostListed = 500;
constexpr std::int64_t kFewestRows = 3;  // two points always lie on a line
// Columns at once: with the label and a column of ones they fill a tile of products. Few columns take as long as that.
constexpr std::size_t kAtOnce = 14;

// What stope stats --correlation says of these columns and the label.
void append_correlations(const std::vector<const Column*>& columns, const Column& label, const RunOptions& run,
                         std::vector<LabelCorrelation>& found) {
  Table table;
  table.n_rows = label.size();
  table.columns.reserve(columns.size() + 1);
  for (const Column* const column : columns) table.columns.push_back(*column);
  table.columns.push_back(label);
  try {
    const Correlation all = correlation(table, {}, run);
    const std::int64_t target = all.size() - 1;
    for (std::int64_t i = 0; i < target; ++i) {
      const double r = all.count(i, target) < kFewestRows ? kNoNumber : all.at(i, target);
      if (std::isfinite(r)) found.push_back({all.names[static_cast<std::size_t>(i)], r, all.count(i, target)});
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_data) throw;
    if (columns.size() == 1) return;  // a sum of its values overflows
    for (const Column* const column : columns) append_correlations({column}, label, run, found);
  }
}

}  // namespace

std::vector<LabelCorrelation> correlations_of(const Table& table, const Column& label, const RunOptions& run) {
  RunOptions quiet = run;  // many small jobs: their phases and reports would follow each other without end
  quiet.progress = {};
  quiet.watch = {};
  quiet.report = {};
  std::vector<LabelCorrelation> found;
  std::vector<const Column*> some;
  for (const std::int64_t i : table.features()) {
    const Column& column = table.columns[static_cast<std::size_t>(i)];
    if (!column.nominal()) some.push_back(&column);
    if (some.size() < kAtOnce) continue;
    append_correlations(some, label, quiet, found);
    some.clear();
  }
  if (!some.empty()) append_correlations(some, label, quiet, found);
  std::stable_sort(found.begin(), found.end(), [](const LabelCorrelation& a, const LabelCorrelation& b) {
    return std::fabs(a.r) > std::fabs(b.r);
  });
  return found;
}

void write_correlations(Markup& out, const std::vector<LabelCorrelation>& correlations, const std::string& label) {
  if (correlations.empty()) {
    out.element("p", "No numeric column has a correlation with " + in_quotes(label) + ".");
    return;
  }
  const LabelCorrelation& first = correlations.front();
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
