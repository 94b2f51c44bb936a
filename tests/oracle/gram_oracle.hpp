// z = A^T (A x) by definition, in long double for its error bounds. It is also computed in double in the shape that
// docs/numerics/gram.md describes, written from that description alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace stope::oracle {

/// A matrix, its shift and scale (empty = none) in plain vectors; rows lie `stride` apart.
struct GramCase {
  std::int64_t n_rows = 0, n_columns = 0, stride = 0;
  bool is_float = false;
  std::vector<float> floats;  // one of these two holds the values
  std::vector<double> doubles;
  std::vector<double> shift, scale, x, y;

  double at(std::int64_t row, std::int64_t column) const {
    const auto i = static_cast<std::size_t>(row * stride + column);
    return is_float ? static_cast<double>(floats[i]) : doubles[i];
  }
  const void* values() const { return is_float ? static_cast<const void*>(floats.data()) : doubles.data(); }
};

/// A number, and how far from it double precision may be.
struct Bounded {
  long double value = 0.0L, most = 0.0L;

  bool holds(double computed) const { return std::fabs(static_cast<long double>(computed) - value) <= most; }
};

class GramOracle {
 public:
  explicit GramOracle(const GramCase& c) : c_(c) {}

  static double log2_up(double n) { return n <= 1.0 ? 0.0 : std::ceil(std::log2(n)); }
  // Returns the roundings from a product to the sum (docs/numerics/gram.md).
  double dot_depth() const {
    return 11.0 + log2_up(std::ceil(static_cast<double>(c_.n_columns) / 512.0)) + (c_.shift.empty() ? 0.0 : 1.0) +
           (c_.scale.empty() ? 0.0 : 1.0);
  }
  double column_depth() const {
    const auto groups = static_cast<double>(n_groups());
    const double longest = std::ceil(static_cast<double>(c_.n_rows) / groups);
    return longest + log2_up(groups) + (c_.shift.empty() ? 0.0 : 1.0) + (c_.scale.empty() ? 0.0 : 1.0);
  }

  // Returns the groups of rows, computed again from docs/numerics/gram.md.
  std::int64_t n_groups() const {
    const std::int64_t wide = std::min<std::int64_t>(8, std::max<std::int64_t>(1, c_.n_rows / 256));
    const std::int64_t padded = (c_.n_columns + 511) / 512 * 512;
    return std::min((c_.n_rows + 7) / 8, std::max(std::int64_t{1081344} / padded, wide));
  }

  Bounded y(std::int64_t row) const {
    Bounded sum;
    for (std::int64_t j = 0; j < c_.n_columns; ++j) {
      const long double term = exact(row, j) * x_at(j);
      sum.value += term;
      sum.most += std::fabs(term);
    }
    sum.most = gamma(dot_depth()) * sum.most + tiny() * static_cast<long double>(c_.n_columns);
    return sum;
  }

  /// Returns A^T times numbers, each of which is known within a bound of its own.
  Bounded z(std::int64_t column, const std::vector<Bounded>& y) const {
    Bounded sum;
    long double carried = 0.0L, size = 0.0L;
    for (std::int64_t i = 0; i < c_.n_rows; ++i) {
      const long double a = exact(i, column);
      const Bounded& by = y[static_cast<std::size_t>(i)];
      sum.value += a * by.value;
      size += std::fabs(a) * (std::fabs(by.value) + by.most);
      carried += std::fabs(a) * by.most;
    }
    const long double scale = scale_at(column);
    sum.value *= scale;
    sum.most =
        std::fabs(scale) * (gamma(column_depth()) * size + carried + tiny() * static_cast<long double>(c_.n_rows));
    sum.most += tiny();
    return sum;
  }

  double shaped_y(std::int64_t row) const {
    const std::int64_t leaves = (c_.n_columns + 511) / 512;
    return aligned(0, leaves, [&](std::int64_t leaf) { return shaped_leaf(row, leaf); }) + 0.0;
  }
  double shaped_z(std::int64_t column, const std::vector<double>& y) const {
    const std::int64_t groups = n_groups();
    const double sum = aligned(0, groups, [&](std::int64_t group) {
      double partial = 0.0;
      for (std::int64_t i = begin(group, groups); i < begin(group + 1, groups); ++i) {
        partial = std::fma(y[static_cast<std::size_t>(i)], shifted(i, column), partial);
      }
      return partial;
    });
    const double scaled = c_.scale.empty() ? sum : sum * c_.scale[static_cast<std::size_t>(column)];
    return scaled + 0.0;
  }

 private:
  static long double gamma(double n) {
    const long double nu = static_cast<long double>(n) * 0x1.0p-53L;
    return nu / (1.0L - nu);
  }
  // A product below the smallest normal double is off by half of the smallest denormal one.
  static long double tiny() { return 0x1.0p-1074L; }

  double shifted(std::int64_t row, std::int64_t column) const {
    const double a = c_.at(row, column);
    return c_.shift.empty() ? a : a - c_.shift[static_cast<std::size_t>(column)];
  }
  long double exact(std::int64_t row, std::int64_t column) const {
    const auto a = static_cast<long double>(c_.at(row, column));
    return c_.shift.empty() ? a : a - static_cast<long double>(c_.shift[static_cast<std::size_t>(column)]);
  }
  long double scale_at(std::int64_t column) const {
    return c_.scale.empty() ? 1.0L : static_cast<long double>(c_.scale[static_cast<std::size_t>(column)]);
  }
  long double x_at(std::int64_t column) const {
    return static_cast<long double>(c_.x[static_cast<std::size_t>(column)]) * scale_at(column);
  }
  std::int64_t begin(std::int64_t group, std::int64_t groups) const {
    return group * (c_.n_rows / groups) + std::min(group, c_.n_rows % groups);
  }

  // Joins neighbours first: the largest power of two below n on the left, the rest on the right.
  static double aligned(std::int64_t first, std::int64_t n, const std::function<double(std::int64_t)>& leaf) {
    if (n == 1) return leaf(first);
    std::int64_t left = 1;
    while (2 * left < n) left *= 2;
    const double a = aligned(first, left, leaf);
    return a + aligned(first + left, n - left, leaf);
  }

  double shaped_leaf(std::int64_t row, std::int64_t leaf) const {
    double slots[128] = {};
    for (std::int64_t j = leaf * 512; j < std::min(leaf * 512 + 512, c_.n_columns); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double x = c_.scale.empty() ? c_.x[at] : c_.x[at] * c_.scale[at];
      slots[j % 128] = std::fma(shifted(row, j), x, slots[j % 128]);
    }
    std::vector<double> sums;
    for (int q = 0; q < 32; ++q) {
      sums.push_back((slots[4 * q] + slots[4 * q + 1]) + (slots[4 * q + 2] + slots[4 * q + 3]));
    }
    for (unsigned half = 16; half >= 1; half /= 2) {
      std::vector<double> next(32);
      for (unsigned q = 0; q < 32; ++q) next[q] = sums[q] + sums[q ^ half];
      sums = next;
    }
    return sums[0];
  }

  const GramCase& c_;
};

}  // namespace stope::oracle
