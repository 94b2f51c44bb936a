#include "stats/finish.hpp"

#include <cmath>

namespace stope::stats {
namespace {

constexpr double kNone = ColumnStatistics::kNone;

// Makes all NaNs one: which NaN an operation returns differs between CPUs.
double clean(double value) {
  return std::isnan(value) ? kNone : value;
}

// Rounds a 128-bit integer once.
double to_double(const WideSum& sum) {
  const bool negative = sum.high < 0;
  std::uint64_t high = static_cast<std::uint64_t>(sum.high), low = sum.low;
  if (negative) {
    low = ~low + 1;
    high = ~high + (low == 0 ? 1 : 0);
  }
  double value = 0.0;
  if (high == 0) {
    value = static_cast<double>(low);
  } else {
    // Keeps the upper 64 significant bits and makes the others one sticky bit. The conversion then rounds as if it saw
    // all.
    const int shift = 64 - __builtin_clzll(high);
    std::uint64_t top = shift == 64 ? high : (high << (64 - shift)) | (low >> shift);
    const std::uint64_t rest = shift == 64 ? low : low << (64 - shift);
    if (rest != 0) top |= 1;
    value = std::ldexp(static_cast<double>(top), shift);
  }
  return negative ? -value : value;
}

std::optional<std::int64_t> in_64_bits(const WideSum& sum) {
  const auto low = static_cast<std::int64_t>(sum.low);
  if (sum.high != (low < 0 ? -1 : 0)) return std::nullopt;
  return low;
}

// Computes variance, deviation and skewness of values times 2^-exponent.
void finish_moments(const Moments<double>& moments, int exponent, ColumnStatistics& column) {
  const double n = moments.n;
  if (n > 1) {
    const double variance = moments.m2 / (n - 1);
    column.deviation = clean(std::ldexp(std::sqrt(variance), exponent));
    column.variance = clean(std::ldexp(variance, 2 * exponent));
  }
  if (moments.m2 > 0) {
    const double population = moments.m2 / n;
    column.skewness = clean(moments.m3 / n / (population * std::sqrt(population)));
  }
}

template <class Wide>
void finish_common(const Part<Wide>& part, ColumnStatistics& column) {
  column.rows = part.count + part.missing;
  column.count = part.count;
  column.missing = part.missing;
  column.zeros = part.zeros;
  if (part.count == 0) return;
  column.min = static_cast<double>(part.min);
  column.max = static_cast<double>(part.max);
  column.min_row = part.min_row;
  column.max_row = part.max_row;
}

}  // namespace

std::optional<int> rescue_exponent(const Part<double>& part, ElementType type) {
  constexpr double kWidest = 0x1p300, kNarrowest = 0x1p-300;
  constexpr int kLeast = -1000;  // 2^1000 is a double, 2^1074 is none
  if (type != ElementType::float64 || part.count < 2) return std::nullopt;
  if (std::isinf(part.min) || std::isinf(part.max) || part.min == part.max) return std::nullopt;
  const double range = part.max - part.min;  // infinite where it overflows
  if (range <= kWidest && range >= kNarrowest) return std::nullopt;
  int exponent = 0;
  std::frexp(std::isinf(range) ? part.max / 2 - part.min / 2 : range, &exponent);
  return std::max(exponent + (std::isinf(range) ? 1 : 0), kLeast);
}

double rescue_scale(int exponent) {
  return std::ldexp(1.0, -exponent);
}

void finish(const Part<double>& part, const std::optional<Rescued>& rescued, StatsOptions::Depth depth,
            ColumnStatistics& column) {
  finish_common(part, column);
  if (depth == StatsOptions::Depth::extremes) {
    column.sum = kNone;
    return;
  }
  column.sum = clean(part.sum);
  if (part.count == 0) return;
  const auto n = static_cast<double>(part.count);
  column.mean = clean(part.sum / n);
  if (std::isinf(part.min) || std::isinf(part.max)) return;
  if (!rescued) {
    finish_moments(part.moments, 0, column);
    return;
  }
  finish_moments(rescued->part.moments, rescued->exponent, column);
  if (std::isfinite(part.sum)) return;
  column.sum = std::ldexp(rescued->part.sum, rescued->exponent);
  column.mean = std::ldexp(rescued->part.sum / n, rescued->exponent);
}

void finish(const Part<std::int64_t>& part, const std::optional<Rescued>&, StatsOptions::Depth depth,
            ColumnStatistics& column) {
  finish_common(part, column);
  column.type = ValueType::integer;
  column.integers = IntegerStatistics{part.count > 0 ? part.min : 0, part.count > 0 ? part.max : 0, std::nullopt};
  if (depth == StatsOptions::Depth::extremes) {
    column.sum = kNone;
    return;
  }
  column.integers->sum = in_64_bits(part.sum);
  column.sum = to_double(part.sum);
  if (part.count == 0) return;
  column.mean = column.sum / static_cast<double>(part.count);
  finish_moments(part.moments, 0, column);
}

}  // namespace stope::stats
