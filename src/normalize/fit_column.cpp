// stope's own normalisation rules (docs/NUMERICS.md, Normalisation).
#include "normalize/fit_column.hpp"

#include <algorithm>
#include <cmath>

#include "normalize/order_statistic.hpp"
#include "stope/error.hpp"
#include "table/column_error.hpp"

namespace stope::normalize {
namespace {

// Interpolates linearly between the neighbouring order statistics at (n - 1) * q. It computes as NumPy does (method
// "linear", from the nearer end), so that both give the same bits.
double quantile(std::span<double> values, double q, const CancelToken& cancel) {
  const double position = static_cast<double>(values.size() - 1) * q;
  const auto index = static_cast<std::int64_t>(std::floor(position));
  const double fraction = position - static_cast<double>(index);
  const double below = order_statistic(values, index, cancel);
  if (fraction == 0.0) return below;
  // nth_element left everything after `index` at or above it.
  const double above = *std::min_element(values.begin() + index + 1, values.end());
  const double step = above - below;
  return fraction >= 0.5 ? above - step * (1.0 - fraction) : below + step * fraction;
}

ColumnTransform checked_transform(ColumnTransform transform, const NormalizeOptions& options, const Table& table,
                                  const Column& from) {
  if (!std::isfinite(transform.shift) || !std::isfinite(transform.scale)) {
    throw column_error(ErrorCode::invalid_data, table, from,
                       ": its values are too large to normalise by " + std::string(to_string(options.method)) +
                           " (a sum or difference overflows)");
  }
  // A spread below the smallest double is no divisor; such a column is as good as constant.
  if (transform.scale == 0.0) transform.scale = 1.0;
  return transform;
}

}  // namespace

ColumnTransform fit_interquartile(PresentValues present, const NormalizeOptions& options, const Table& table,
                                  const Column& from, const CancelToken& cancel) {
  ColumnTransform transform;
  const std::span<double> values = present.values;
  if (values.empty()) return transform;
  transform.shift = quantile(values, 0.5, cancel);
  const double q1 = quantile(values, 0.25, cancel);
  const double q3 = quantile(values, 0.75, cancel);
  if (q3 != q1) transform.scale = (q3 - q1) / kNormalInterquartileRange;
  return checked_transform(transform, options, table, from);
}

ColumnTransform fit_statistics(const ColumnStatistics& column, const NormalizeOptions& options, const Table& table,
                               const Column& from) {
  ColumnTransform transform;
  if (column.count == 0) return transform;
  // The difference of two infinities is NaN, which would silently read as missing.
  if (std::isinf(column.min) || std::isinf(column.max)) {
    const std::int64_t row = !std::isinf(column.max)   ? column.min_row
                             : !std::isinf(column.min) ? column.max_row
                                                       : std::min(column.min_row, column.max_row);
    throw column_error(ErrorCode::invalid_data, table, from, ": an infinite value cannot be normalised", row);
  }
  // The arithmetic cannot decide this: the mean of n equal numbers need not be that number.
  const bool is_constant = column.min == column.max;
  if (options.method == Normalization::range) {
    transform.shift = column.min;
    transform.scale = is_constant ? 1.0 : column.max - column.min;
    transform.factor = options.max - options.min;
    transform.offset = options.min;
  } else if (options.method == Normalization::z) {
    transform.shift = is_constant ? column.min : column.mean;
    if (!is_constant) transform.scale = column.deviation;
  } else if (column.min != 0.0 || column.max != 0.0) {  // proportion
    transform.scale = column.sum;
    if (column.sum == 0.0) {
      throw column_error(ErrorCode::invalid_data, table, from, ": its values sum to 0, so they have no proportions");
    }
  }
  return checked_transform(transform, options, table, from);
}

}  // namespace stope::normalize
