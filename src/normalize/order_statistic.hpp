// Finds the i-th smallest of a set of numbers without sorting all of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "stope/run.hpp"

namespace stope::normalize {

/// The value at sorted position `index`; reorders `values`. Expected O(n).
/// -0.0 sorts before 0.0, as in Java. This makes the order total, so that the result does not depend on where the
/// values lay.
inline double order_statistic(std::span<double> values, std::int64_t index, const CancelToken& cancel) {
  constexpr std::int64_t kPollMask = (std::int64_t{1} << 20) - 1;  // some milliseconds of comparisons
  std::int64_t comparisons = 0;
  const auto before = [&](double a, double b) {
    if ((++comparisons & kPollMask) == 0) cancel.check();
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  };
  const auto nth = values.begin() + index;
  std::nth_element(values.begin(), nth, values.end(), before);
  return *nth;
}

}  // namespace stope::normalize
