#include "gram/pair_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <variant>

#include "base/row_sums.hpp"

namespace stope::gram {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What is known of one column's values in the rows that count.
struct Centred {
  double mean = 0.0;
  double scale = 1.0;  // a power of two, so that no square overflows or vanishes
  bool constant = true;

  double of(double value) const { return (value - mean) * scale; }
};

// `value(row)` is the column's value, or NaN in a row that does not count.
template <class Value>
Centred centred(std::int64_t n_rows, std::int64_t count, const Value& value) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const double v = value(row);
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  Centred column;
  column.constant = !(low < high);
  if (column.constant) return column;
  // Every value is divided before it is added: the sum of large values may overflow where their mean does not.
  const auto n = static_cast<double>(count);
  column.mean = sum_over_rows(0, n_rows, [&](std::int64_t row) {
    const double v = value(row);
    return v == v ? v / n : 0.0;
  });
  int exponent = 0;
  std::frexp(std::max(high - column.mean, column.mean - low), &exponent);
  column.scale = std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
  return column;
}

template <class X, class Y>
PairCorrelation correlate(std::int64_t n_rows, const X* x, const Y* y) {
  const auto both = [&](std::int64_t row) { return x[row] == x[row] && y[row] == y[row]; };
  const auto x_of = [&](std::int64_t row) { return both(row) ? static_cast<double>(x[row]) : kNone; };
  const auto y_of = [&](std::int64_t row) { return both(row) ? static_cast<double>(y[row]) : kNone; };
  PairCorrelation pair{kNone, 0};
  for (std::int64_t row = 0; row < n_rows; ++row) pair.count += both(row) ? 1 : 0;
  if (pair.count < 2) return pair;
  const Centred a = centred(n_rows, pair.count, x_of), b = centred(n_rows, pair.count, y_of);
  if (a.constant || b.constant) return pair;
  const auto sum = [&](const auto& term) {
    return sum_over_rows(0, n_rows, [&](std::int64_t row) { return both(row) ? term(row) : 0.0; });
  };
  const auto dx = [&](std::int64_t row) { return a.of(static_cast<double>(x[row])); };
  const auto dy = [&](std::int64_t row) { return b.of(static_cast<double>(y[row])); };
  const double n = static_cast<double>(pair.count), sx = sum(dx), sy = sum(dy);
  // The sums of the deviations would be 0 if the means were exact.
  const double xx = sum([&](std::int64_t row) { return dx(row) * dx(row); }) - sx * sx / n;
  const double yy = sum([&](std::int64_t row) { return dy(row) * dy(row); }) - sy * sy / n;
  const double xy = sum([&](std::int64_t row) { return dx(row) * dy(row); }) - sx * sy / n;
  if (xx > 0.0 && yy > 0.0) pair.value = std::clamp(xy / std::sqrt(xx) / std::sqrt(yy), -1.0, 1.0);
  return pair;
}

template <class Use>
auto with_numbers(const Column& column, const Use& use) {
  if (const auto* floats = std::get_if<Buffer<float>>(&column.data)) return use(floats->data());
  return use(std::get<Buffer<double>>(column.data).data());
}

}  // namespace

PairCorrelation correlate_values(const Column& x, const Column& y) {
  return with_numbers(
      x, [&](const auto* a) { return with_numbers(y, [&](const auto* b) { return correlate(x.size(), a, b); }); });
}

Buffer<std::int64_t> rows_by_value(const Column& column, Storage storage) {
  Buffer<std::int64_t> order(column.size(), storage);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  with_numbers(column, [&](const auto* values) {
    const auto missing =
        std::partition(order.begin(), order.end(), [&](std::int64_t row) { return values[row] == values[row]; });
    std::sort(order.begin(), missing, [&](std::int64_t a, std::int64_t b) { return values[a] < values[b]; });
  });
  return order;
}

void rank_rows(const Column& column, const Buffer<std::int64_t>& order, const Column* other, double* ranks) {
  std::fill(ranks, ranks + column.size(), kNone);
  with_numbers(column, [&](const auto* values) {
    const auto counts = [&](std::int64_t row) {
      return values[row] == values[row] && (other == nullptr || !other->missing(row));
    };
    std::int64_t rank = 0;
    for (std::int64_t i = 0; i < order.size();) {
      // The rows of one value get its lowest rank first, then the mean rank.
      const auto value = values[order[i]];
      std::int64_t end = i, n_equal = 0;
      for (; end < order.size() && values[order[end]] == value; ++end) n_equal += counts(order[end]) ? 1 : 0;
      if (end == i) break;  // missing values are last
      const double mean = static_cast<double>(rank) + static_cast<double>(n_equal - 1) / 2.0;
      for (std::int64_t j = i; j < end; ++j) {
        if (counts(order[j])) ranks[order[j]] = mean;
      }
      rank += n_equal;
      i = end;
    }
  });
}

}  // namespace stope::gram
