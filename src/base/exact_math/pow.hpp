// Power function: e^(y log x) with log x to 2^-68, and the special cases of C99 (Annex F.9.4.4).
#pragma once

#include <cstdint>

#include "base/exact_math/exp.hpp"
#include "base/exact_math/log.hpp"
#include "base/exact_math/real.hpp"

namespace stope::math {

enum class Parity : std::uint8_t { not_integer, even, odd };

/// The parity of a finite y.
STOPE_HD inline Parity parity(double y) {
  const double size = magnitude(y);
  if (size >= 0x1.0p53) return Parity::even;
  const std::int64_t whole = static_cast<std::int64_t>(size);
  if (static_cast<double>(whole) != size) return Parity::not_integer;
  return (whole & 1) != 0 ? Parity::odd : Parity::even;
}

/// pow() where x or y is zero or infinite; neither is NaN, y != 0 and x != 1.
STOPE_HD inline double pow_special(double x, double y) {
  const double size = magnitude(x);
  if (magnitude(y) == infinity()) {
    if (size == 1.0) return 1.0;
    return (size > 1.0) == (y > 0.0) ? infinity() : 0.0;
  }
  const std::uint64_t sign = parity(y) == Parity::odd ? bits_of(x) & kSignBit : 0;
  return with_sign((size == 0.0) == (y > 0.0) ? 0.0 : infinity(), sign);
}

/// x^y. x^0 = 1 and 1^y = 1 even for NaN; a negative x needs an integer y, else NaN.
STOPE_HD inline double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return quiet_nan();
  const double size = magnitude(x);
  const double y_size = magnitude(y);
  if (size == 0.0 || size == infinity() || y_size == infinity()) return pow_special(x, y);

  std::uint64_t sign = 0;
  if (x < 0.0) {
    const Parity kind = parity(y);
    if (kind == Parity::not_integer) return quiet_nan();
    if (kind == Parity::odd) sign = kSignBit;
    if (size == 1.0) return with_sign(1.0, sign);
  }
  // |log x| is at least 2^-53 (x != 1) and below 2^9.6. So outside these bounds of y the result is known; inside them
  // no product below can overflow or lose bits to underflow.
  if (y_size > 0x1.0p64) return with_sign((size > 1.0) == (y > 0.0) ? infinity() : 0.0, sign);
  if (y_size < 0x1.0p-66) return 1.0;

  const Sum l = log_sum(size);
  const Sum y_part = split(y);
  const Sum l_part = split(l.hi);
  const Real top = y_part.hi * l_part.hi;  // 26 by 26 bits: exact
  const Real rest = y_part.hi * (l_part.lo + l.lo) + y_part.lo * l.hi;
  const Sum product = fast_two_sum(top, rest);
  if (product.hi.value > 710.0) return with_sign(infinity(), sign);
  if (product.hi.value < -746.0) return with_sign(0.0, sign);
  return with_sign(exp_of_sum(product.hi, product.lo), sign);
}

}  // namespace stope::math
