// What is known of some consecutive rows of a column, and how two neighbouring parts become one.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "stats/moments.hpp"

namespace stope::stats {

/// A sum of integers: high * 2^64 + low. It does not overflow for any number of rows.
struct WideSum {
  std::int64_t high = 0;
  std::uint64_t low = 0;
};
STOPE_HD inline void add(WideSum& a, const WideSum& b) {
  a.low += b.low;
  a.high += b.high + (a.low < b.low ? 1 : 0);
}
STOPE_HD inline void add(WideSum& a, std::int64_t b) {
  add(a, WideSum{b < 0 ? -1 : 0, static_cast<std::uint64_t>(b)});
}
STOPE_HD inline void add(double& a, double b) {
  a += b;
}

template <class Wide>
struct SumOf;
template <>
struct SumOf<double> {
  using Type = double;
};
template <>
struct SumOf<std::int64_t> {
  using Type = WideSum;
};

/// Wide is double for columns of floating-point numbers, int64 for integers. What follows `missing` has a meaning only
/// where `count` > 0.
template <class Wide>
struct Part {
  std::int64_t count = 0;    ///< values that are not missing
  std::int64_t missing = 0;  ///< NaN
  std::int64_t zeros = 0;
  std::int64_t min_row = 0, max_row = 0;  ///< of the first, or first row of the leaf that holds it
  Wide min{}, max{};
  typename SumOf<Wide>::Type sum{};
  Wide pivot{};
  Moments<double> moments{};  ///< its n repeats `count`
};

/// Joins what does not depend on order: the smaller value wins; if equal (-0 equals +0), the smaller row.
template <class Wide>
STOPE_HD inline void join_extremes(Part<Wide>& a, const Part<Wide>& b) {
  if (b.min < a.min || (b.min == a.min && b.min_row < a.min_row)) {
    a.min = b.min;
    a.min_row = b.min_row;
  }
  if (b.max > a.max || (b.max == a.max && b.max_row < a.max_row)) {
    a.max = b.max;
    a.max_row = b.max_row;
  }
}

/// Joins `a` and the rows behind it, `b`. Without kMoments it joins only counts and extremes.
template <bool kMoments = true, class Wide>
STOPE_HD inline void join(Part<Wide>& a, const Part<Wide>& b) {
  a.missing += b.missing;
  if (b.count == 0) return;
  if (a.count == 0) {
    const std::int64_t missing = a.missing;
    a = b;
    a.missing = missing;
    return;
  }
  join_extremes(a, b);
  if constexpr (kMoments) {
    join(a.moments, b.moments, distance(a.pivot, b.pivot));
    add(a.sum, b.sum);
  }
  a.zeros += b.zeros;
  a.count += b.count;
}

/// Joins neighbours in place until one part is left: the tree of moments.hpp over an aligned group of parts.
template <class Wide>
STOPE_HD inline void join_all(Part<Wide>* parts, std::int64_t n) {
  for (std::int64_t apart = 1; apart < n; apart *= 2) {
    for (std::int64_t i = 0; i + apart < n; i += 2 * apart) join(parts[i], parts[i + apart]);
  }
}

}  // namespace stope::stats
