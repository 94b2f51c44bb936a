#include "page/class_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kBins = 16;
constexpr double kMostWhole = 24;
constexpr std::size_t kValues = 7;
constexpr std::int64_t kPollRows = 65536;

// The line of each of the column's codes: the most frequent values have one of their own.
std::vector<std::size_t> lines_of_values(const Column& column, const ColumnStatistics& statistics,
                                         ClassCounts& result) {
  const std::size_t n = column.values.size();
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto often = [&](std::int32_t a, std::int32_t b) {
    const std::int64_t x = statistics.counts[static_cast<std::size_t>(a)];
    const std::int64_t y = statistics.counts[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  const std::size_t most = std::min(n, kValues + 1);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(), often);
  const std::size_t own = n <= kValues + 1 ? n : kValues;
  std::vector<std::size_t> line(n, own);
  result.values.reserve(own + 1);
  for (std::size_t i = 0; i < own; ++i) {
    line[static_cast<std::size_t>(order[i])] = i;
    result.values.push_back(column.values[order[i]]);
  }
  result.n_rest = static_cast<std::int64_t>(n - own);
  if (result.n_rest > 0) result.values.push_back(grouped(result.n_rest) + " other values");
  return line;
}

void finite_range(const Column& column, const ColumnStatistics& statistics, ClassCounts& result) {
  if (statistics.histogram && !statistics.histogram->counts.empty()) {
    result.low = statistics.histogram->low;
    result.high = statistics.histogram->high;
    return;
  }
  bool any = false;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    const double value = column.at(row);
    if (!std::isfinite(value)) continue;
    result.low = any ? std::min(result.low, value) : value;
    result.high = any ? std::max(result.high, value) : value;
    any = true;
  }
}

// Few whole numbers have a bin each: bins of equal width would leave gaps between them.
std::size_t bins_of(const Column& column, ClassCounts& result) {
  if (!(result.high > result.low)) return 1;
  const double numbers = result.high - result.low + 1;
  if (column.type != ValueType::integer || numbers > kMostWhole) return kBins;
  result.whole = true;
  result.low -= 0.5;
  result.high += 0.5;
  return static_cast<std::size_t>(numbers);
}

std::size_t bin_of(double value, const ClassCounts& result, std::size_t n_bins) {
  const double width = result.high / 2 - result.low / 2;
  if (!(width > 0)) return 0;
  const double place = (value / 2 - result.low / 2) / width * static_cast<double>(n_bins);
  return std::min(n_bins - 1, static_cast<std::size_t>(std::max(0.0, place)));
}

}  // namespace

std::int64_t ClassCounts::total(std::size_t group) const {
  return std::accumulate(counts[group].begin(), counts[group].end(), std::int64_t{0});
}

std::int64_t ClassCounts::in_bin(std::size_t bin) const {
  std::int64_t sum = 0;
  for (const std::vector<std::int64_t>& of_group : counts) sum += of_group[bin];
  return sum;
}

ClassCounts count_classes(const Column& column, const ColumnStatistics& statistics, const Column* label,
                          const ClassList& classes, const RunOptions& run) {
  ClassCounts result;
  result.nominal = column.nominal();
  std::vector<std::size_t> line;
  if (result.nominal) {
    line = lines_of_values(column, statistics, result);
  } else {
    finite_range(column, statistics, result);
  }
  const std::size_t bins = result.nominal ? result.values.size() : bins_of(column, result);
  result.counts.assign(classes.size(), std::vector<std::int64_t>(bins, 0));
  result.missing.assign(classes.size(), 0);
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (row % kPollRows == 0) run.cancel.check();
    if (label != nullptr && label->missing(row)) continue;
    const std::size_t group =
        label == nullptr ? 0
                         : static_cast<std::size_t>(classes.group_of[static_cast<std::size_t>(label->codes()[row])]);
    if (column.missing(row)) {
      ++result.missing[group];
    } else if (result.nominal) {
      ++result.counts[group][line[static_cast<std::size_t>(column.codes()[row])]];
    } else if (const double value = column.at(row); std::isfinite(value)) {
      ++result.counts[group][bin_of(value, result, bins)];
    }
  }
  return result;
}

}  // namespace stope::cli::page
