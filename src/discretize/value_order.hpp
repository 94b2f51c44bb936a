// The order of a numeric attribute's values, and the cut between two neighbours in it. It is compiled for host and
// device.
//
// A missing value (NaN, whatever its bits) lies below everything; then come -infinity, the numbers, +infinity. -0
// equals +0. A row goes right where value >= cut. For a missing value that is false for every cut (IEEE), so it goes
// left.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace stope::discretize {

/// Unsigned keys in the order of the values; equal values have equal keys. A missing value has 0, others never do.
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

/// The cut that stands for "missing | present": x >= -infinity is true for every present value.
inline constexpr double kMissingCut = -__builtin_huge_val();

/// The cut between neighbours a and b in the order, a below b: x >= cut is false for a and true for b. It is their mean
/// (a + b) / 2, but b if the mean rounds to a, and a / 2 + b / 2 if the sum overflows. Between -infinity and anything
/// it is b, so that kMissingCut has only one meaning. Values of float32 come widened. The mean of two of them never
/// rounds to a, and adjacent ones have their exact midpoint as cut.
STOPE_HD constexpr double cut_between(double a, double b) {
  if (a != a) return kMissingCut;
  const double infinity = __builtin_huge_val();
  if (a == -infinity) return b + 0.0;  // + 0.0: a cut is never -0
  double middle = (a + b) / 2.0;
  if ((middle == infinity || middle == -infinity) && b != infinity) middle = a / 2.0 + b / 2.0;
  return middle > a ? middle + 0.0 : b + 0.0;
}

/// Whether a row with this value goes right; missing values never do.
STOPE_HD constexpr bool goes_right(double value, double cut) {
  return value >= cut;
}

}  // namespace stope::discretize
