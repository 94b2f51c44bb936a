// Compares stope::math with MPFR: the error of every function must stay below 0.55 units in the last place.
//
// STOPE_EXACT_MATH_SAMPLES (default 12000) is the number of random arguments per range; a million takes minutes.
#include <gmp.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "base/exact_math.hpp"
#include "base/random.hpp"
#include "environment.hpp"

namespace stope {
namespace {

constexpr double kLimit = 0.55;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// An MPFR number of 140 bits: the oracle's own error is below 2^-86 ulp.
class Precise {
 public:
  Precise() { mpfr_init2(value_, 140); }
  ~Precise() { mpfr_clear(value_); }
  Precise(const Precise&) = delete;
  Precise& operator=(const Precise&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/// One function under test. It feeds arguments to the function and to MPFR. It keeps the worst error in ulp of the
/// exact result (or of the smallest subnormal where that is larger), with its argument.
class Probe {
 public:
  Probe(const char* name, double (*ours)(double), Unary exact) : name_(name), ours_(ours), exact_(exact) {}
  explicit Probe(double (*ours)(double, double)) : name_("pow"), ours2_(ours) {}
  ~Probe() {
    std::printf("%-4s %9lld arguments, worst %.6f ulp at %a %a\n", name_, static_cast<long long>(count_), worst_, at_x_,
                at_y_);
    EXPECT_LT(worst_, kLimit) << name_ << " at " << at_x_ << ", " << at_y_;
    EXPECT_GT(count_, 0);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  void check(double x, double y = 0.0) {
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    mpfr_set_d(x_.get(), x, MPFR_RNDN);
    mpfr_set_d(y_.get(), y, MPFR_RNDN);
    if (ours2_ != nullptr) {
      mpfr_pow(result_.get(), x_.get(), y_.get(), MPFR_RNDN);
    } else {
      exact_(result_.get(), x_.get(), MPFR_RNDN);
    }
    const double error = error_of(ours2_ != nullptr ? ours2_(x, y) : ours_(x));
    ++count_;
    if (!(error <= worst_)) worst_ = error, at_x_ = x, at_y_ = y;
  }

 private:
  double error_of(double got) {
    if (mpfr_nan_p(result_.get()) != 0) return got != got ? 0.0 : kInf;
    if (got != got) return kInf;
    if (std::signbit(got) != (mpfr_signbit(result_.get()) != 0)) return kInf;
    if (mpfr_inf_p(result_.get()) != 0) return std::isinf(got) ? 0.0 : kInf;
    if (mpfr_zero_p(result_.get()) != 0) return got == 0.0 ? 0.0 : kInf;
    const mpfr_exp_t exponent = mpfr_get_exp(result_.get());  // |exact| in [2^(exponent-1), 2^exponent)
    const long ulp = (exponent < -1021 ? -1021 : exponent > 1024 ? 1024 : static_cast<long>(exponent)) - 53;
    // An infinite result stands for 2^1024, the next double if there were one.
    if (std::isinf(got)) {
      if (exponent > 1024) return 0.0;
      mpfr_set_ui_2exp(got_.get(), 1, 1024, MPFR_RNDN);
      mpfr_setsign(got_.get(), got_.get(), std::signbit(got) ? 1 : 0, MPFR_RNDN);
    } else {
      mpfr_set_d(got_.get(), got, MPFR_RNDN);
    }
    mpfr_sub(result_.get(), result_.get(), got_.get(), MPFR_RNDN);
    mpfr_mul_2si(result_.get(), result_.get(), -ulp, MPFR_RNDN);
    return std::fabs(mpfr_get_d(result_.get(), MPFR_RNDU));
  }

  const char* name_;
  double (*ours_)(double) = nullptr;
  double (*ours2_)(double, double) = nullptr;
  Unary exact_ = nullptr;
  Precise x_, y_, result_, got_;
  double worst_ = 0.0, at_x_ = 0.0, at_y_ = 0.0;
  std::int64_t count_ = 0;
};

std::int64_t samples() {
  return from_environment("STOPE_EXACT_MATH_SAMPLES", 12000);
}

double uniform(Random& random, double from, double to) {
  return from + (to - from) * random.uniform();
}
double any_bits(Random& random) {
  return math::from_bits(random.next());
}
/// Returns a number with random sign and fraction, and an exponent uniform in [from, to).
double any_scale(Random& random, int from, int to) {
  const double fraction = 1.0 + random.uniform();
  const int exponent = from + static_cast<int>(random.below(static_cast<std::uint64_t>(to - from)));
  return std::ldexp((random.next() & 1) != 0 ? fraction : -fraction, exponent);
}
/// Checks the doubles around x, `steps` on each side.
template <class Check>
void around(double x, int steps, Check check) {
  double up = x, down = x;
  check(x);
  for (int i = 0; i < steps; ++i) {
    check(up = std::nextafter(up, kInf));
    check(down = std::nextafter(down, -kInf));
  }
}

TEST(ExactMathOracle, Log) {
  Probe probe("log", math::log, mpfr_log);
  const auto check = [&](double x) { probe.check(x); };
  Random random(1);
  for (std::int64_t i = 0; i < samples(); ++i) {
    check(std::fabs(any_bits(random)));
    check(uniform(random, 0.5, 2.0));
    check(uniform(random, 0.99, 1.01));
    check(1.0 + any_scale(random, -53, -8));
    check(uniform(random, 0.0, 1000.0));
    check(std::fabs(any_scale(random, -1074, -1022)));
  }
  around(1.0, 2000, check);
  around(0x1.6ap-1, 100, check);  // where the exponent changes
  for (int i = 181; i <= 362; ++i) around((i + 0.5) / 256.0, 3, check);
  for (int i = -1074; i < 1024; ++i) around(std::ldexp(1.0, i), 2, check);
  check(DBL_MAX);
  check(-1.0);
}

TEST(ExactMathOracle, Exp) {
  Probe probe("exp", math::exp, mpfr_exp);
  const auto check = [&](double x) { probe.check(x); };
  Random random(2);
  for (std::int64_t i = 0; i < samples(); ++i) {
    check(uniform(random, -746.0, 710.0));
    check(uniform(random, -1.0, 1.0));
    check(uniform(random, -745.2, -708.0));
    check(any_scale(random, -60, 10));
    check(any_bits(random));
    // Near a border between two table intervals.
    const double k = std::floor(uniform(random, -137700.0, 131000.0)) + 0.5;
    check(k * 0x1.62e42fefa39efp-8);
  }
  for (const double x : {0.0, 0x1.62e42fefa39efp+9, -0x1.74910d52d3051p+9, -0x1.6232bdd7abcd2p+9, 710.0, -746.0}) {
    around(x, 500, check);
  }
}

TEST(ExactMathOracle, Pow) {
  Probe probe(math::pow);
  Random random(3);
  for (std::int64_t i = 0; i < samples(); ++i) {
    probe.check(any_bits(random), any_bits(random));
    probe.check(uniform(random, 0.0, 10.0), uniform(random, -10.0, 10.0));
    // The base is anywhere, the result anywhere in the range of doubles.
    double x = std::fabs(any_bits(random));
    probe.check(x, uniform(random, -745.5, 710.0) / std::log(x));
    // The base is near 1, the exponent is huge.
    x = 1.0 + any_scale(random, -52, -6);
    probe.check(x, uniform(random, -745.5, 710.0) / std::log(x));
    // Results are subnormal.
    x = std::fabs(any_scale(random, -30, 30));
    probe.check(x, uniform(random, -745.3, -708.0) / std::log(x));
    // Bases are subnormal.
    probe.check(std::fabs(any_scale(random, -1074, -1022)), uniform(random, -0.96, 1.01));
    // Results are next to 1.
    probe.check(std::fabs(any_scale(random, -1000, 1000)), any_scale(random, -70, -8));
    // Bases are negative, exponents integers, and results of 54 and more bits are close to a tie.
    probe.check(any_scale(random, -20, 20), std::floor(uniform(random, -60.0, 60.0)));
    probe.check(std::floor(uniform(random, -0x1.0p+27, 0x1.0p+27)), 2.0);
    probe.check(std::floor(uniform(random, -0x1.0p+18, 0x1.0p+18)), 3.0);
    probe.check(uniform(random, 0.0, 1.0), 0.5);
  }
  for (int i = 0; i < 1100; ++i) {
    around(std::ldexp(1.0, 1), 3, [&](double x) { probe.check(x, -i), probe.check(-x, i), probe.check(x, i + 0.5); });
  }
}

/// Calls `check` with angles for sin and cos.
template <class Check>
void check_angles(Random& random, Check check) {
  Precise multiple;
  for (std::int64_t i = 0; i < samples(); ++i) {
    check(uniform(random, -0.8, 0.8));
    check(uniform(random, -6.3, 6.3));
    check(uniform(random, -1e6, 1e6));
    check(any_scale(random, -30, 1));
    check(any_scale(random, 20, 1024));
    check(any_bits(random));
    // The double nearest to a multiple of pi/2, of any size.
    mpfr_const_pi(multiple.get(), MPFR_RNDN);
    const double times = std::floor(std::ldexp(1.0 + random.uniform(), static_cast<int>(random.below(70))));
    mpfr_mul_d(multiple.get(), multiple.get(), times, MPFR_RNDN);
    check(mpfr_get_d(multiple.get(), MPFR_RNDN) * 0.5);
  }
  for (int i = 1; i <= 200; ++i) around(i * 0x1.921fb54442d18p+0, 5, check);
  for (int i = 0; i <= 200; ++i) around((i + 0.5) / 64.0, 3, check);
  // The doubles closest to a multiple of pi/2 (Muller, Elementary Functions, ch. 11), and the largest.
  around(std::ldexp(6381956970095103.0, 797), 5, check);
  around(std::ldexp(6411027962775774.0, -48), 5, check);
  for (int i = 1; i < 1024; ++i) around(std::ldexp(1.0, i), 3, check);
  around(DBL_MAX, 200, check);
  around(-DBL_MAX, 200, check);
}

TEST(ExactMathOracle, Sin) {
  Probe probe("sin", math::sin, mpfr_sin);
  Random random(4);
  check_angles(random, [&](double x) { probe.check(x); });
}

TEST(ExactMathOracle, Cos) {
  Probe probe("cos", math::cos, mpfr_cos);
  Random random(5);
  check_angles(random, [&](double x) { probe.check(x); });
}

/// Calls `check` with sines and cosines for asin and acos.
template <class Check>
void check_ratios(Random& random, Check check) {
  for (std::int64_t i = 0; i < samples(); ++i) {
    check(uniform(random, -1.0, 1.0));
    check(any_scale(random, -40, 0));
    check(any_scale(random, -1074, 0));
    check(1.0 - std::fabs(any_scale(random, -54, -1)));
    check(-1.0 + std::fabs(any_scale(random, -54, -1)));
    check(math::sin((static_cast<double>(random.below(202)) + 0.5 + 1e-3 * (random.uniform() - 0.5)) / 64.0));
  }
  for (const double x : {0.0, 1.0, -1.0, 0.5, -0.5, 0x1.6a09e667f3bcdp-1, -0x1.6a09e667f3bcdp-1, 0x1.0p-27}) {
    around(x, 1000, check);
  }
}

TEST(ExactMathOracle, Asin) {
  Probe probe("asin", math::asin, mpfr_asin);
  Random random(6);
  check_ratios(random, [&](double x) { probe.check(x); });
}

TEST(ExactMathOracle, Acos) {
  Probe probe("acos", math::acos, mpfr_acos);
  Random random(7);
  check_ratios(random, [&](double x) { probe.check(x); });
}

}  // namespace
}  // namespace stope
