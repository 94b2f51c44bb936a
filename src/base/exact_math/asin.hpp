// Inverse sine and cosine: asin() and acos(), by the table of sincos.hpp.
#pragma once

#include <cstdint>

#include "base/exact_math/real.hpp"
#include "base/exact_math/sincos.hpp"

namespace stope::math {

/// sqrt(1 - x^2) for 0 <= x <= 1, with a relative error of 2^-75 even where x is near 1: the root of (1 - x)(1 + x),
/// whose factors are exact as sums.
STOPE_HD inline Sum cosine_from_sine(Real x) {
  const Sum u = two_sum(1.0, -x);
  const Sum v = two_sum(1.0, x);
  const Sum u_part = split(u.hi);
  const Sum v_part = split(v.hi);
  const Real rest = (u.hi * v_part.lo + u_part.lo * v_part.hi) + (u.hi * v.lo + u.lo * v.hi);
  const Sum z = fast_two_sum(u_part.hi * v_part.hi, rest);
  if (z.hi.value == 0.0) return {0.0, 0.0};
  // One Newton step improves the correctly rounded root.
  const Real root = square_root(z.hi);
  const Sum part = split(root);
  const Real residual = ((z.hi - part.hi * part.hi) - (root + part.hi) * part.lo) + z.lo;
  return {root, residual / (2.0 * root)};
}

/// The angle in [0, pi/4] whose sine is s and whose cosine is c. With t = i/64 near the angle, angle - t is asin(w),
/// where w = sin(angle - t) = s cos t - c sin t is exact but for terms below 2^-26. |w| < 0.009, so a short series is
/// enough.
STOPE_HD inline Sum angle_of(Sum s, Sum c) {
  const Real s2 = s.hi * s.hi;
  const Real guess = s.hi + (s.hi * s2) * ((1.0 / 6.0) + s2 * (0.075 + s2 * 0.07));  // to 0.0003, to choose i
  const std::int64_t index = static_cast<std::int64_t>((guess * 64.0 + 0.5).value);
  const SinCosEntry t = sincos_entry(index);

  const Sum s_part = split(s.hi);
  const Sum c_part = split(c.hi);
  const Sum top = two_sum(s_part.hi * t.cos_hi, -(c_part.hi * t.sin_hi));
  const Real plus = s_part.lo * t.cos_hi + (s.lo * t.cos_hi + s.hi * t.cos_lo);
  const Real minus = c_part.lo * t.sin_hi + (c.lo * t.sin_hi + c.hi * t.sin_lo);
  const Sum w = two_sum(top.hi, top.lo + (plus - minus));

  const Real w2 = w.hi * w.hi;
  const Real series = (w.hi * w2) * ((1.0 / 6.0) + w2 * ((3.0 / 40.0) + w2 * ((15.0 / 336.0) + w2 * (105.0 / 3456.0))));
  const Sum angle = two_sum(Real(static_cast<double>(index)) * 0x1.0p-6, w.hi);
  return fast_two_sum(angle.hi, angle.lo + (w.lo + series));
}

/// asin x or acos x, whichever is at most pi/4.
struct SmallAngle {
  Sum angle;
  bool is_acos;
};

/// For 0 <= x <= 1.
STOPE_HD inline SmallAngle small_angle(Real x) {
  const Sum other = cosine_from_sine(x);
  const bool is_acos = x.value > 0x1.6a09e667f3bccp-1;
  return {is_acos ? angle_of(other, {x, 0.0}) : angle_of({x, 0.0}, other), is_acos};
}

/// base + angle, rounded once.
STOPE_HD inline double offset(Sum base, Sum angle) {
  const Sum s = two_sum(base.hi, angle.hi);
  return (s.hi + (s.lo + (base.lo + angle.lo))).value;
}

/// The inverse sine, in [-pi/2, pi/2]. NaN outside [-1, 1].
STOPE_HD inline double asin(double x) {
  const double size = magnitude(x);
  if (!(size <= 1.0)) return quiet_nan();
  if (size < 0x1.0p-27) return x;
  const auto [angle, is_acos] = small_angle(size);
  const Sum half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  const double result = is_acos ? offset(half_pi, {-angle.hi, -angle.lo}) : (angle.hi + angle.lo).value;
  return with_sign(result, bits_of(x) & kSignBit);
}

/// The inverse cosine, in [0, pi]. NaN outside [-1, 1].
STOPE_HD inline double acos(double x) {
  const double size = magnitude(x);
  if (!(size <= 1.0)) return quiet_nan();
  const auto [angle, is_acos] = small_angle(size);
  const Sum minus = {-angle.hi, -angle.lo};
  const Sum half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  const Sum pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  if (!is_acos) return offset(half_pi, x < 0.0 ? angle : minus);
  return x < 0.0 ? offset(pi, minus) : (angle.hi + angle.lo).value;
}

}  // namespace stope::math
