// The order of a numeric attribute's values, and the cut between two neighbours in it. Compiled for host and device.
//
// A missing value (NaN, whatever its bits) lies below everything, then -infinity, the numbers, +infinity; -0 equals +0.
// A row goes right where value >= cut: of a missing value that is false for every cut (IEEE), so it goes left.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace stope::discretize {

/// Unsigned keys in the order of the values, equal where the values are: 0 for a missing one, never 0 for another.
STOPE_HD constexpr std::uint64_t order_key(double value) {
  if (value != value) return 0;
  const auto bits = __builtin_bit_cast(std::uint64_t, value + 0.0);  // -0 becomes +0
  return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}
STOPE_HD constexpr std::uint32_t order_key(float value) {
  if (value != value) return 0;
  const auto bits = __builtin_bit_cast(std::uint32_t, value + 0.0F);
  return (bits >> 31) != 0 ? ~bits : bits | (std::uint32_t{1} << 31);
}

/// The value of a key; NaN for 0.
STOPE_HD constexpr double value_of(std::uint64_t key) {
  if (key == 0) return __builtin_nan("");
  return __builtin_bit_cast(double, (key >> 63) != 0 ? key & ~(std::uint64_t{1} << 63) : ~key);
}
STOPE_HD constexpr double value_of(std::uint32_t key) {
  if (key == 0) return __builtin_nan("");
  return static_cast<double>(__builtin_bit_cast(float, (key >> 31) != 0 ? key & ~(std::uint32_t{1} << 31) : ~key));
}

/// Whether a lies below b; neither may be a signalling NaN.
STOPE_HD constexpr bool below(double a, double b) {
  return a < b || (a != a && b == b);
}

/// The cut that "missing | present" is written as: x >= -infinity is true of every value that is there.
inline constexpr double kMissingCut = -__builtin_huge_val();

/// The cut between neighbours a and b in the order, a below b: x >= cut is false of a and true of b. Their mean (a +
/// b) / 2, but b where the mean rounds to a, and a / 2 + b / 2 where the sum overflows. Between -infinity and
/// anything it is b, so that kMissingCut never means anything else.
STOPE_HD constexpr double cut_between(double a, double b) {
  if (a != a) return kMissingCut;
  const double infinity = __builtin_huge_val();
  if (a == -infinity) return b + 0.0;  // + 0.0: a cut is never -0
  double middle = (a + b) / 2.0;
  if ((middle == infinity || middle == -infinity) && b != infinity) middle = a / 2.0 + b / 2.0;
  return middle > a ? middle + 0.0 : b + 0.0;
}

/// Whether a row with this value goes right, missing ones never.
STOPE_HD constexpr bool goes_right(double value, double cut) {
  return value >= cut;
}

}  // namespace stope::discretize
