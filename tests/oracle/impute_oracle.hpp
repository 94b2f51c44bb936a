// Imputation once more, from its definition: for every missing value all distances by the oracle's formulas, sorted;
// the first k rows that have the column; the mean, median or vote in long double. It shares no code with src/impute.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "oracle/measure_oracle.hpp"
#include "stope/impute.hpp"

namespace stope::oracle {

struct ImputedCell {
  std::vector<std::int64_t> donors;
  std::vector<double> distances;
  double value = kNaN;  ///< a number, or a code of the training column
};

inline std::vector<long double> donor_weights(const std::vector<double>& distances, VoteWeights weights) {
  std::vector<long double> w(distances.size(), 1.0L);
  if (weights == VoteWeights::uniform) return w;
  const bool zero = std::count(distances.begin(), distances.end(), 0.0) > 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] = zero ? (distances[i] == 0.0 ? 1.0L : 0.0L) : 1.0L / static_cast<long double>(distances[i]);
  }
  return w;
}

/// The median: the middle of the values, each as long as its weight.
inline double weighted_median(std::vector<std::pair<double, long double>> values) {
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  long double total = 0.0L, below = 0.0L;
  for (const auto& [value, weight] : values) total += weight;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double next = below + values[i].second;
    const bool last = i + 1 == values.size();
    if (last || next > total / 2) return values[i].first;
    if (next == total / 2) return (values[i].first + values[i + 1].first) / 2;
    below = next;
  }
  return kNaN;
}

inline double fallback(const Column& column, ImputeStrategy strategy) {
  std::vector<std::pair<double, long double>> values;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (!column.missing(row)) values.emplace_back(column.at(row), 1.0L);
  }
  if (values.empty()) return kNaN;
  if (column.nominal()) {
    std::vector<std::int64_t> counts(column.values.size(), 0);
    for (const auto& [value, weight] : values) ++counts[static_cast<std::size_t>(value)];
    return static_cast<double>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  }
  if (strategy == ImputeStrategy::median) return weighted_median(values);
  long double sum = 0.0L;
  for (const auto& [value, weight] : values) sum += static_cast<long double>(value);
  return static_cast<double>(sum / static_cast<long double>(values.size()));
}

inline double donated(const Column& column, const ImputedCell& cell, const ImputeOptions& options) {
  const std::vector<long double> w = donor_weights(cell.distances, options.weights);
  long double total = 0.0L;
  for (const long double weight : w) total += weight;
  if (!(total > 0.0L)) return fallback(column, options.strategy);
  if (column.nominal()) {
    std::vector<long double> votes(column.values.size(), 0.0L);
    for (std::size_t i = 0; i < w.size(); ++i) votes[static_cast<std::size_t>(column.at(cell.donors[i]))] += w[i];
    return static_cast<double>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  }
  std::vector<std::pair<double, long double>> values;
  long double sum = 0.0L;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (w[i] == 0.0L) continue;
    values.emplace_back(column.at(cell.donors[i]), w[i]);
    sum += w[i] * static_cast<long double>(column.at(cell.donors[i]));
  }
  return options.strategy == ImputeStrategy::median ? weighted_median(values) : static_cast<double>(sum / total);
}

/// The distances are those of `train` and `table`, which are normalised already if that is asked for; values come from
/// the column `given`, which is not. Both tables have the same columns.
inline ImputedCell impute(const Table& train, const Table& table, std::int64_t row, std::int64_t column,
                          const Column& given, const ImputeOptions& options) {
  std::vector<std::pair<double, std::int64_t>> all;
  for (std::int64_t donor = 0; donor < train.n_rows; ++donor) {
    if (train.columns[static_cast<std::size_t>(column)].missing(donor)) continue;
    const double d = distance(options.metric.name, train, donor, table, row, options.feature_weights);
    if (!std::isnan(d)) all.emplace_back(d, donor);
  }
  std::sort(all.begin(), all.end());
  ImputedCell cell;
  for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(options.n_neighbors); ++i) {
    cell.donors.push_back(all[i].second);
    cell.distances.push_back(all[i].first);
  }
  cell.value = donated(given, cell, options);
  return cell;
}

}  // namespace stope::oracle
