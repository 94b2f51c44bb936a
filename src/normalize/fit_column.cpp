// stope's own normalisation rules (docs/NUMERICS.md, Normalisation).
#include "normalize/fit_column.hpp"

#include <algorithm>
#include <cmath>

#include "base/reduce.hpp"
#include "normalize/order_statistic.hpp"
#include "stope/error.hpp"

namespace stope::normalize {
namespace {

// Sample standard deviation in two passes: the textbook one-pass formula loses everything when the mean is large.
// Deviations are scaled by a power of two, which is exact, so that no square overflows or vanishes.
double standard_deviation(std::span<double> values, double mean, double widest) {
  int exponent = 0;
  std::frexp(widest, &exponent);
  for (double& v : values) {
    const double deviation = std::ldexp(v - mean, -exponent);
    v = deviation * deviation;
  }
  const double variance = pairwise_sum(values) / static_cast<double>(values.size() - 1);
  return std::ldexp(std::sqrt(variance), exponent);
}

// Linear interpolation between the neighbouring order statistics at (n - 1) * q, evaluated as NumPy does
// (method "linear", from the nearer end) so that both give the same bits.
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

double sum_for_proportion(std::span<const double> values, const std::string& where) {
  const double sum = pairwise_sum(values);
  if (sum == 0.0) {
    throw Error(ErrorCode::invalid_file, where + ": its values sum to 0, so they have no proportions");
  }
  return sum;
}

}  // namespace

ColumnTransform fit_column(PresentValues present, const NormalizeOptions& options, const std::string& where,
                           const CancelToken& cancel) {
  ColumnTransform transform;
  const std::span<double> values = present.values;
  if (values.empty()) return transform;
  const auto [low_at, high_at] = std::minmax_element(values.begin(), values.end());
  const double low = *low_at;
  const double high = *high_at;
  const bool is_constant = low == high;

  switch (options.method) {
    case Normalization::none: break;
    case Normalization::range:
      transform.shift = low;
      transform.scale = is_constant ? 1.0 : high - low;
      transform.factor = options.max - options.min;
      transform.offset = options.min;
      break;
    case Normalization::z:
      // Not left to the arithmetic: the mean of n equal numbers need not be that number.
      transform.shift = is_constant ? low : pairwise_sum(values) / static_cast<double>(values.size());
      if (!is_constant) transform.scale = standard_deviation(values, transform.shift, high - low);
      break;
    case Normalization::proportion:
      if (low != 0.0 || high != 0.0) transform.scale = sum_for_proportion(values, where);
      break;
    case Normalization::interquartile: {
      transform.shift = quantile(values, 0.5, cancel);
      const double q1 = quantile(values, 0.25, cancel);
      const double q3 = quantile(values, 0.75, cancel);
      if (q3 != q1) transform.scale = (q3 - q1) / kNormalInterquartileRange;
      break;
    }
  }
  if (!std::isfinite(transform.shift) || !std::isfinite(transform.scale)) {
    throw Error(ErrorCode::invalid_file, where + ": its values are too large to normalise by " +
                                             std::string(to_string(options.method)) +
                                             " (a sum or difference overflows)");
  }
  // A spread below the smallest double cannot be divided by; such a column is as good as constant.
  if (transform.scale == 0.0) transform.scale = 1.0;
  return transform;
}

}  // namespace stope::normalize
