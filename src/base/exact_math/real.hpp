// The arithmetic of stope::math: plain IEEE double operations that no compiler may fuse, and the bits of a double.
#pragma once

#include <cfloat>
#include <cstdint>

#include "base/host_device.hpp"

#if defined(__FAST_MATH__)
#error "stope::math needs IEEE arithmetic: compile without -ffast-math"
#endif
#if !defined(__CUDA_ARCH__) && FLT_EVAL_METHOD != 0
#error "stope::math needs arithmetic in double, not in a wider register (x87)"
#endif

namespace stope::math {

/// A double whose + - * / and square root are rounded one by one. On a GPU the built-in operators may fuse a product
/// and a sum into one multiply-add, which rounds only once and gives other bits. The _rn intrinsics never fuse. On the
/// host the flag -ffp-contract=off forbids it.
struct Real {
  double value;

  STOPE_HD Real() : value(0.0) {}
  STOPE_HD Real(double v) : value(v) {}  // NOLINT: implicit, so that formulas can hold literals

#if defined(__CUDA_ARCH__)
  STOPE_HD friend Real operator+(Real a, Real b) { return __dadd_rn(a.value, b.value); }
  STOPE_HD friend Real operator-(Real a, Real b) { return __dadd_rn(a.value, -b.value); }
  STOPE_HD friend Real operator*(Real a, Real b) { return __dmul_rn(a.value, b.value); }
  STOPE_HD friend Real operator/(Real a, Real b) { return __ddiv_rn(a.value, b.value); }
#else
  STOPE_HD friend Real operator+(Real a, Real b) { return a.value + b.value; }
  STOPE_HD friend Real operator-(Real a, Real b) { return a.value - b.value; }
  STOPE_HD friend Real operator*(Real a, Real b) { return a.value * b.value; }
  STOPE_HD friend Real operator/(Real a, Real b) { return a.value / b.value; }
#endif
  STOPE_HD Real operator-() const { return -value; }
};

STOPE_HD inline Real square_root(Real a) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(a.value);
#else
  return __builtin_sqrt(a.value);
#endif
}

STOPE_HD inline std::uint64_t bits_of(double v) {
  return __builtin_bit_cast(std::uint64_t, v);
}
STOPE_HD inline double from_bits(std::uint64_t b) {
  return __builtin_bit_cast(double, b);
}

inline constexpr std::uint64_t kSignBit = 0x8000000000000000U;
inline constexpr std::uint64_t kInfinityBits = 0x7ff0000000000000U;
inline constexpr std::uint64_t kOneBits = 0x3ff0000000000000U;

/// The one NaN of all results: machines differ in the NaN of 0/0 and in the payload that they propagate.
STOPE_HD inline double quiet_nan() {
  return from_bits(0x7ff8000000000000U);
}
STOPE_HD inline double infinity() {
  return from_bits(kInfinityBits);
}
STOPE_HD inline double magnitude(double v) {
  return from_bits(bits_of(v) & ~kSignBit);
}
STOPE_HD inline double with_sign(double v, std::uint64_t sign_bit) {
  return from_bits(bits_of(v) ^ sign_bit);
}
/// 2^n for -1022 <= n <= 1023.
STOPE_HD inline double power_of_two(std::int64_t n) {
  return from_bits(static_cast<std::uint64_t>(n + 1023) << 52);
}

/// An unevaluated sum hi + lo, |lo| about 2^-53 |hi| or less.
struct Sum {
  Real hi, lo;
};

/// a + b without error (Knuth).
STOPE_HD inline Sum two_sum(Real a, Real b) {
  const Real s = a + b;
  const Real b_seen = s - a;
  return {s, (a - (s - b_seen)) + (b - b_seen)};
}

/// a + b without error if |a| >= |b| or a = 0 (Dekker).
STOPE_HD inline Sum fast_two_sum(Real a, Real b) {
  const Real s = a + b;
  return {s, b - (s - a)};
}

/// a = hi + lo exactly; hi has 26 bits and lo at most 27, so the product of two hi is exact. This cuts the bits:
/// multiplying by 2^27 + 1 (Veltkamp) could overflow. hi * hi + (a + hi) * lo is a^2 to 2^-79.
STOPE_HD inline Sum split(Real a) {
  const Real hi = from_bits(bits_of(a.value) & ~std::uint64_t{0x7ffffff});
  return {hi, a - hi};
}

}  // namespace stope::math
