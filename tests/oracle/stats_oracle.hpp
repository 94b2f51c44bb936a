// Slow, independent statistics of a column: two passes in long double, straight from the formulas.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace stope::oracle {

struct ColumnFacts {
  std::int64_t count = 0, missing = 0, zeros = 0, min_row = -1, max_row = -1;
  double min = std::numeric_limits<double>::quiet_NaN(), max = min;
  long double sum = 0, absolute_sum = 0, mean = std::numeric_limits<long double>::quiet_NaN();
  long double m2 = 0, m3 = 0, absolute_m3 = 0;  // sums of powers of the distances from the mean
  bool infinite = false;
};

/// Neumaier's compensated sum: the parts that additions round away are added up separately.
class LongSum {
 public:
  void add(long double x) {
    const long double sum = sum_ + x;
    lost_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
    sum_ = sum;
  }
  long double value() const { return sum_ + lost_; }

 private:
  long double sum_ = 0, lost_ = 0;
};

template <class T>
ColumnFacts facts_of(const std::vector<T>& values) {
  ColumnFacts facts;
  T min{}, max{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T x = values[i];
    if (x != x) {
      ++facts.missing;
      continue;
    }
    if (facts.count == 0 || x < min) {
      min = x;
      facts.min_row = static_cast<std::int64_t>(i);
    }
    if (facts.count == 0 || x > max) {
      max = x;
      facts.max_row = static_cast<std::int64_t>(i);
    }
    ++facts.count;
    if (x == T{}) ++facts.zeros;
  }
  if (facts.count == 0) return facts;
  facts.min = static_cast<double>(min);
  facts.max = static_cast<double>(max);
  facts.infinite = std::isinf(facts.min) || std::isinf(facts.max);
  // A first guess of the mean is subtracted, so that the sum of the rest has digits to spare.
  const long double guess = static_cast<long double>(min) / 2 + static_cast<long double>(max) / 2;
  LongSum sum, rest;
  for (const T x : values) {
    if (x != x) continue;
    const auto wide = static_cast<long double>(x);
    sum.add(wide);
    facts.absolute_sum += std::fabs(wide);
    rest.add(wide - guess);
  }
  const long double offset = rest.value() / static_cast<long double>(facts.count);
  facts.sum = sum.value();
  facts.mean = guess + offset;
  for (const T x : values) {
    if (x != x) continue;
    const long double distance = (static_cast<long double>(x) - guess) - offset;
    facts.m2 += distance * distance;
    facts.m3 += distance * distance * distance;
    facts.absolute_m3 += std::fabs(distance * distance * distance);
  }
  return facts;
}

}  // namespace stope::oracle
