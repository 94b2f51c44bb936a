// What the tests of statistics share: columns of every kind, comparison with the oracle, back ends forced in turn.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "environment.hpp"
#include "oracle/stats_oracle.hpp"
#include "stope/device.hpp"
#include "stope/stats.hpp"

namespace stope::stats_cases {

/// While it lives all threads are used, however few values there are.
class EveryThread : public ForcedVariable {
 public:
  EveryThread() : ForcedVariable("STOPE_STATS_THREAD_VALUES", "1") {}
};

/// The back ends of this machine that compute statistics.
inline std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (const BackendInfo& info : device_info().backends) {
    if (info.available && info.name != "reference" && info.name != "avx512vnni") names.push_back(info.name);
  }
  return names;
}

inline const std::vector<std::string>& kinds() {
  static const std::vector<std::string> all = {
      "uniform",     "ties",         "constant",   "zeros",        "signed zeros", "5 % missing", "half missing",
      "all missing", "late present", "infinities", "one infinity", "offset 1e6",   "offset 1e15", "outlier first",
      "sorted",      "huge",         "tiny",       "wild",         "skewed"};
  return all;
}

/// Returns a value of that kind as a double; integers are made by truncating it.
inline double value_of(const std::string& kind, Random& random, std::int64_t i, std::int64_t n) {
  const double u = random.uniform();
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  if (kind == "ties") return static_cast<double>(random.below(4)) - 1;
  if (kind == "constant") return 0.1;
  if (kind == "zeros") return random.below(10) < 9 ? 0.0 : u - 0.5;
  if (kind == "signed zeros") return random.below(2) == 0 ? -0.0 : 0.0;
  if (kind == "5 % missing") return random.below(20) == 0 ? nan : u * 10 - 5;
  if (kind == "half missing") return random.below(2) == 0 ? nan : u;
  if (kind == "all missing") return nan;
  if (kind == "late present") return i < n - n / 8 - 1 ? nan : u;
  if (kind == "infinities") return random.below(50) == 0 ? (random.below(2) == 0 ? inf : -inf) : u;
  if (kind == "one infinity") return i == n / 3 ? -inf : u;
  if (kind == "offset 1e6") return 1e6 + u;
  if (kind == "offset 1e15") return 1e15 + static_cast<double>(random.below(3));
  if (kind == "outlier first") return i == 0 ? 1e16 : u;
  if (kind == "sorted") return static_cast<double>(i);
  if (kind == "huge") return (u - 0.5) * 0x1p1020;
  if (kind == "tiny") return (u - 0.5) * 0x1p-1040;
  if (kind == "skewed") return 1.0 / (u + 1e-9);
  if (kind == "wild") {
    switch (random.below(8)) {
      case 0: return -0.0;
      case 1: return nan;
      case 2: return 1e300 * u;
      case 3: return -1e-300 * u;
      case 4: return std::numeric_limits<double>::denorm_min() * static_cast<double>(random.below(100));
      default: return 1e6 + u;
    }
  }
  return u * 2 - 1;
}

template <class T>
std::vector<T> column_of(const std::string& kind, std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = value_of(kind, random, i, n);
    T& to = values[static_cast<std::size_t>(i)];
    if constexpr (std::is_floating_point_v<T>) {
      to = static_cast<T>(x);
    } else {
      // Makes whole numbers over the whole range of the type, and near each other around a large offset.
      const auto bits = static_cast<T>(random.next() >> (64 - 8 * sizeof(T)));
      to = kind == "uniform"       ? bits
           : kind == "offset 1e15" ? static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(random.below(5)))
           : kind == "huge"     ? (random.below(2) == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max())
           : std::fabs(x) < 1e9 ? static_cast<T>(static_cast<std::int64_t>(10 * x))
                                : static_cast<T>(i % 7);
    }
  }
  return values;
}

template <class T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, float>) return ElementType::float32;
  if constexpr (std::is_same_v<T, double>) return ElementType::float64;
  if constexpr (std::is_same_v<T, std::int8_t>) return ElementType::int8;
  if constexpr (std::is_same_v<T, std::int16_t>) return ElementType::int16;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::int32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::uint8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return ElementType::uint16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return ElementType::uint32;
  return ElementType::int64;
}

/// Returns the bits of everything that one pass finds, for comparisons between back ends.
inline std::vector<std::uint64_t> bits_of(const ColumnStatistics& s) {
  std::vector<std::uint64_t> bits;
  for (const std::int64_t n : {s.rows, s.count, s.missing, s.zeros, s.min_row, s.max_row}) {
    bits.push_back(static_cast<std::uint64_t>(n));
  }
  for (const double x : {s.min, s.max, s.sum, s.mean, s.variance, s.deviation, s.skewness}) {
    bits.push_back(std::bit_cast<std::uint64_t>(x));
  }
  if (s.integers) {
    bits.push_back(static_cast<std::uint64_t>(s.integers->min));
    bits.push_back(static_cast<std::uint64_t>(s.integers->max));
    bits.push_back(static_cast<std::uint64_t>(s.integers->sum.value_or(-1)));
  }
  return bits;
}

/// The bounds that docs/numerics/stats.md states, in units of the last place.
inline double leaves_of(std::int64_t rows) {
  return std::ceil(static_cast<double>(rows) / 8192.0);
}
inline double sum_bound(std::int64_t rows) {
  return 261 + std::ceil(std::log2(std::max(1.0, leaves_of(rows))));
}
inline double moment_bound(std::int64_t rows) {
  return 68000 + 8 * std::log2(static_cast<double>(rows) + 1) + 4 * std::sqrt(static_cast<double>(rows));
}

/// Returns |found - expected| in long double.
inline long double gap(double found, long double expected) {
  return std::fabs(static_cast<long double>(found) - expected);
}

/// Whether a result agrees with the oracle, exactly or within the stated bounds.
template <class T>
void expect_facts(const ColumnStatistics& s, const std::vector<T>& values) {
  constexpr long double kU = 0x1p-53L, kLeast = 0x1p-1074L;  // half a unit, and the smallest double
  const oracle::ColumnFacts facts = oracle::facts_of(values);
  const auto rows = static_cast<std::int64_t>(values.size());
  EXPECT_EQ(s.rows, rows);
  EXPECT_EQ(s.count, facts.count);
  EXPECT_EQ(s.missing, facts.missing);
  EXPECT_EQ(s.zeros, facts.zeros);
  EXPECT_EQ(s.min_row, facts.min_row);
  EXPECT_EQ(s.max_row, facts.max_row);
  EXPECT_EQ(std::isnan(s.min), facts.count == 0);
  if (facts.count == 0) {
    EXPECT_EQ(s.sum, 0.0);
    EXPECT_TRUE(std::isnan(s.mean) && std::isnan(s.max) && std::isnan(s.variance) && std::isnan(s.skewness));
    return;
  }
  EXPECT_EQ(std::bit_cast<std::uint64_t>(s.min), std::bit_cast<std::uint64_t>(facts.min));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(s.max), std::bit_cast<std::uint64_t>(facts.max));
  if (facts.infinite) {
    const bool both = std::isinf(facts.min) && std::isinf(facts.max) && facts.min != facts.max;
    EXPECT_EQ(std::isnan(s.sum), both);
    EXPECT_EQ(std::isnan(s.mean), both);
    if (!both) {
      EXPECT_TRUE(std::isinf(s.sum));
    }
    EXPECT_TRUE(std::isnan(s.variance) && std::isnan(s.deviation) && std::isnan(s.skewness));
    return;
  }
  const auto n = static_cast<long double>(facts.count);
  const long double oracle_slack = n * 0x1p-60L;
  const long double sum_error = (static_cast<long double>(sum_bound(rows)) * kU + oracle_slack) * facts.absolute_sum;
  if (facts.absolute_sum < 0x1p1023L) {
    EXPECT_LE(gap(s.sum, facts.sum), sum_error);
    EXPECT_LE(gap(s.mean, facts.mean), sum_error / n + 2 * kU * std::fabs(facts.mean) + kLeast);
  } else if (std::fabs(facts.sum) < 0x1p1023L) {
    EXPECT_LE(gap(s.mean, facts.mean), sum_error / n + 2 * kU * std::fabs(facts.mean) + kLeast);
  }
  if (facts.count < 2) {
    EXPECT_TRUE(std::isnan(s.variance));
    return;
  }
  const long double variance = facts.m2 / (n - 1),
                    relative = static_cast<long double>(moment_bound(rows)) * kU + oracle_slack;
  EXPECT_LE(gap(s.deviation, std::sqrt(variance)), relative * std::sqrt(variance) + kLeast);
  if (variance < 0x1p1023L && variance > 0x1p-1000L) {
    EXPECT_LE(gap(s.variance, variance), relative * variance);
  }
  EXPECT_EQ(std::isnan(s.skewness), facts.m2 == 0);
  if (facts.m2 == 0) return;
  const long double population = facts.m2 / n, cube = population * std::sqrt(population);
  const long double skewness = facts.m3 / n / cube;
  EXPECT_LE(gap(s.skewness, skewness),
            4 * relative * (facts.absolute_m3 / n / cube) + 2 * relative * std::fabs(skewness));
}

}  // namespace stope::stats_cases
