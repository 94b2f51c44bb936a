// RapidMiner 5.3's normalisation, operation by operation. Its sums run over the rows in order; changing one of these
// expressions, even to a more accurate one, changes last bits.
#include <algorithm>
#include <cmath>
#include <limits>

#include "normalize/fit_column.hpp"
#include "normalize/order_statistic.hpp"

namespace stope::normalize {
namespace {

ColumnTransform fit_range(std::span<const double> values, const NormalizeOptions& options) {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  for (const double v : values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  ColumnTransform transform;
  transform.shift = low;
  transform.scale = high - low;
  transform.factor = options.max - options.min;
  transform.offset = options.min;
  if (high == low || options.min == options.max) transform.constant = std::min(std::max(low, options.min), options.max);
  return transform;
}

ColumnTransform fit_z(std::span<const double> values) {
  double sum = 0.0;
  double sum_of_squares = 0.0;
  for (const double v : values) {
    sum += v;
    sum_of_squares += v * v;
  }
  const auto n = static_cast<double>(values.size());
  ColumnTransform transform;
  transform.shift = sum / n;
  const double variance = n <= 1 ? 0.0 : (sum_of_squares - sum * sum / n) / (n - 1);
  transform.scale = std::sqrt(variance);
  if (variance <= 0.0) transform.constant = 0.0;
  return transform;
}

// One missing value makes the sum, and with it the whole column, missing.
ColumnTransform fit_proportion(std::span<const double> values, std::int64_t n_rows) {
  double sum = 0.0;
  for (const double v : values) sum += v;
  ColumnTransform transform;
  const bool any_missing = static_cast<std::int64_t>(values.size()) < n_rows;
  transform.scale = any_missing ? std::numeric_limits<double>::quiet_NaN() : sum;
  return transform;
}

// Positions count all rows. Missing values sort to the end, and a quartile or median that falls among them is NaN.
ColumnTransform fit_interquartile(std::span<double> values, std::int64_t n_rows, const CancelToken& cancel) {
  const auto sorted_at = [&](std::int64_t index) {
    return index < static_cast<std::int64_t>(values.size()) ? order_statistic(values, index, cancel)
                                                            : std::numeric_limits<double>::quiet_NaN();
  };
  ColumnTransform transform;
  if (n_rows == 0) return transform;
  const auto n = static_cast<double>(n_rows);
  const double q1 = sorted_at(static_cast<std::int64_t>((n + 1) * 0.25 - 1));
  const double q3 = sorted_at(static_cast<std::int64_t>((n + 1) * 0.75 - 1));
  const std::int64_t half = n_rows / 2;
  transform.shift = n_rows % 2 == 0 ? (sorted_at(half) + sorted_at(half - 1)) / 2 : sorted_at(half);
  transform.scale = (q3 - q1) / kNormalInterquartileRange;
  if (transform.scale <= 0.0) transform.constant = 0.0;
  return transform;
}

}  // namespace

ColumnTransform fit_column_rapidminer(PresentValues present, const NormalizeOptions& options,
                                      const CancelToken& cancel) {
  switch (options.method) {
    case Normalization::range: return fit_range(present.values, options);
    case Normalization::z: return fit_z(present.values);
    case Normalization::proportion: return fit_proportion(present.values, present.n_rows);
    case Normalization::interquartile: return fit_interquartile(present.values, present.n_rows, cancel);
    case Normalization::none: break;
  }
  return {};
}

}  // namespace stope::normalize
