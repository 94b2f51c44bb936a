// stope::math without the oracle: special values, signs of zero, and the bits themselves, which must be the same in
// every build. CMake compiles this file at several optimisation levels; the hashes below hold for all of them.
#include "base/exact_math.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace stope {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = 0x1.0p-1074;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kPi = 0x1.921fb54442d18p+1;

/// Expects equal bits: tells -0 from +0, and accepts only one NaN.
void expect_bits(double got, double want) {
  if (want != want) want = math::quiet_nan();
  EXPECT_EQ(math::bits_of(got), math::bits_of(want)) << "got " << got << ", want " << want;
}

TEST(ExactMath, LogSpecialValues) {
  expect_bits(math::log(0.0), -kInf);
  expect_bits(math::log(-0.0), -kInf);
  expect_bits(math::log(1.0), 0.0);
  expect_bits(math::log(kInf), kInf);
  expect_bits(math::log(-kInf), kNan);
  expect_bits(math::log(-kTiny), kNan);
  expect_bits(math::log(kNan), kNan);
  expect_bits(math::log(-kNan), kNan);
  expect_bits(math::log(kTiny), -0x1.74385446d71c3p+9);
  expect_bits(math::log(DBL_MAX), 0x1.62e42fefa39efp+9);
}

TEST(ExactMath, ExpSpecialValues) {
  expect_bits(math::exp(0.0), 1.0);
  expect_bits(math::exp(-0.0), 1.0);
  expect_bits(math::exp(kTiny), 1.0);
  expect_bits(math::exp(kInf), kInf);
  expect_bits(math::exp(-kInf), 0.0);
  expect_bits(math::exp(kNan), kNan);
  expect_bits(math::exp(0x1.62e42fefa39efp+9), 0x1.fffffffffff2ap+1023);  // the last finite one
  expect_bits(math::exp(0x1.62e42fefa39f0p+9), kInf);
  expect_bits(math::exp(DBL_MAX), kInf);
  expect_bits(math::exp(-0x1.74910d52d3051p+9), kTiny);  // the last above half of the smallest subnormal
  expect_bits(math::exp(-0x1.74910d52d3052p+9), 0.0);
  expect_bits(math::exp(-DBL_MAX), 0.0);
  expect_bits(math::exp(-708.3964185322641), 0x1.000000000007cp-1022);
  expect_bits(math::exp(-708.3964185322642), 0x0.ffffffffffe7cp-1022);  // the first below the normal numbers
}

TEST(ExactMath, SinAndCosSpecialValues) {
  expect_bits(math::sin(0.0), 0.0);
  expect_bits(math::sin(-0.0), -0.0);
  expect_bits(math::sin(kTiny), kTiny);
  expect_bits(math::sin(-kTiny), -kTiny);
  expect_bits(math::sin(-1.0), -math::sin(1.0));
  expect_bits(math::sin(kPi), 0x1.1a62633145c07p-53);
  expect_bits(math::cos(0.0), 1.0);
  expect_bits(math::cos(-0.0), 1.0);
  expect_bits(math::cos(kTiny), 1.0);
  expect_bits(math::cos(-1.0), math::cos(1.0));
  expect_bits(math::cos(kPi), -1.0);
  expect_bits(math::cos(kHalfPi), 0x1.1a62633145c07p-54);
  for (const double bad : std::vector<double>{kInf, -kInf, kNan}) {
    expect_bits(math::sin(bad), kNan);
    expect_bits(math::cos(bad), kNan);
  }
}

TEST(ExactMath, AsinAndAcosSpecialValues) {
  expect_bits(math::asin(0.0), 0.0);
  expect_bits(math::asin(-0.0), -0.0);
  expect_bits(math::asin(-kTiny), -kTiny);
  expect_bits(math::asin(1.0), kHalfPi);
  expect_bits(math::asin(-1.0), -kHalfPi);
  expect_bits(math::acos(0.0), kHalfPi);
  expect_bits(math::acos(-0.0), kHalfPi);
  expect_bits(math::acos(1.0), 0.0);
  expect_bits(math::acos(-1.0), kPi);
  for (const double bad :
       std::vector<double>{0x1.0000000000001p+0, -0x1.0000000000001p+0, DBL_MAX, kInf, -kInf, kNan}) {
    expect_bits(math::asin(bad), kNan);
    expect_bits(math::acos(bad), kNan);
  }
}

TEST(ExactMath, PowOfOneAndToTheZeroIsOneEvenForNan) {
  for (const double any : std::vector<double>{0.0, -0.0, 2.5, -3.0, kTiny, -DBL_MAX, kInf, -kInf, kNan}) {
    expect_bits(math::pow(any, 0.0), 1.0);
    expect_bits(math::pow(any, -0.0), 1.0);
    expect_bits(math::pow(1.0, any), 1.0);
  }
  expect_bits(math::pow(kNan, 1.0), kNan);
  expect_bits(math::pow(2.0, kNan), kNan);
}

TEST(ExactMath, PowOfZero) {
  expect_bits(math::pow(0.0, 3.0), 0.0);
  expect_bits(math::pow(-0.0, 3.0), -0.0);
  expect_bits(math::pow(-0.0, 2.0), 0.0);
  expect_bits(math::pow(-0.0, 0.5), 0.0);
  expect_bits(math::pow(0.0, -3.0), kInf);
  expect_bits(math::pow(-0.0, -3.0), -kInf);
  expect_bits(math::pow(-0.0, -2.0), kInf);
  expect_bits(math::pow(-0.0, -2.5), kInf);
  expect_bits(math::pow(-0.0, 0x1.fffffffffffffp+52), -0.0);  // the largest odd double
  expect_bits(math::pow(-0.0, 0x1.0p+53), 0.0);
  expect_bits(math::pow(0.0, kInf), 0.0);
  expect_bits(math::pow(-0.0, -kInf), kInf);
}

TEST(ExactMath, PowOfInfinityAndToInfinity) {
  expect_bits(math::pow(kInf, 0.5), kInf);
  expect_bits(math::pow(kInf, -0.5), 0.0);
  expect_bits(math::pow(-kInf, 3.0), -kInf);
  expect_bits(math::pow(-kInf, 2.0), kInf);
  expect_bits(math::pow(-kInf, 2.5), kInf);
  expect_bits(math::pow(-kInf, -3.0), -0.0);
  expect_bits(math::pow(-kInf, -2.0), 0.0);
  expect_bits(math::pow(-1.0, kInf), 1.0);
  expect_bits(math::pow(-1.0, -kInf), 1.0);
  expect_bits(math::pow(0.5, kInf), 0.0);
  expect_bits(math::pow(-0.5, -kInf), kInf);
  expect_bits(math::pow(-1.5, kInf), kInf);
  expect_bits(math::pow(1.5, -kInf), 0.0);
  expect_bits(math::pow(kInf, -kInf), 0.0);
}

TEST(ExactMath, PowOfNegativeBases) {
  expect_bits(math::pow(-2.0, 3.0), -8.0);
  expect_bits(math::pow(-2.0, 2.0), 4.0);
  expect_bits(math::pow(-2.0, -1.0), -0.5);
  expect_bits(math::pow(-2.0, 0.5), kNan);
  expect_bits(math::pow(-2.0, kTiny), kNan);
  expect_bits(math::pow(-1.0, 0x1.fffffffffffffp+52), -1.0);
  expect_bits(math::pow(-1.0, 1e300), 1.0);
  expect_bits(math::pow(-2.0, -1075.0), -0.0);  // half of the smallest subnormal: to even
  expect_bits(math::pow(-2.0, -1073.0), -2.0 * kTiny);
  expect_bits(math::pow(-2.0, -1074.0), kTiny);
  expect_bits(math::pow(-2.0, 1025.0), -kInf);
  expect_bits(math::pow(-0x1.0000000000001p+0, -0x1.fffffffffffffp+52),
              -1.0 / math::pow(0x1.0000000000001p+0, 0x1.fffffffffffffp+52));
}

TEST(ExactMath, PowIsExactWhereTheResultIs) {
  for (int n = -1074; n <= 1023; ++n) {
    const double power = n >= -1022 ? math::power_of_two(n) : math::from_bits(std::uint64_t{1} << (n + 1074));
    expect_bits(math::pow(2.0, n), power);
    expect_bits(math::pow(0.5, -n), power);
  }
  double power = 1.0;
  for (int n = 0; n <= 22; ++n, power *= 10.0) expect_bits(math::pow(10.0, n), power);
  for (int i = 0; i < 1000; ++i) {
    expect_bits(math::pow(i * 0.25, 2.0), i * 0.25 * (i * 0.25));
    expect_bits(math::pow(i * 0.25 * (i * 0.25), 0.5), i * 0.25);
    expect_bits(math::pow(i * 0.25, 1.0), i * 0.25);
  }
  expect_bits(math::pow(kTiny, 1.0), kTiny);
  expect_bits(math::pow(DBL_MAX, 1.0), DBL_MAX);
  expect_bits(math::pow(DBL_MAX, -1.0), 0x1.0p-1024);
  expect_bits(math::pow(1.5, kTiny), 1.0);
  expect_bits(math::pow(1.5, DBL_MAX), kInf);
  expect_bits(math::pow(1.5, -DBL_MAX), 0.0);
}

/// Returns FNV-1a over the results of f on a fixed set: any bit patterns, and three ranges where the work is done.
template <class Function>
std::uint64_t hash_of_results(Function f) {
  Random random(20240607);
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto take = [&](double a, double b) {
    std::uint64_t bits = math::bits_of(f(a, b));
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) hash = (hash ^ (bits & 0xff)) * 0x100000001b3U;
  };
  // Each statement draws once: compilers differ in the order in which they evaluate arguments.
  for (int i = 0; i < 20000; ++i) {
    const double a = math::from_bits(random.next());
    const double b = math::from_bits(random.next());
    const double u = random.uniform();
    const double v = random.uniform();
    take(a, b);
    take(2.0 * u - 1.0, 20.0 * v - 10.0);
    take(1600.0 * v - 800.0, 200.0 * u - 100.0);
    take(1.0 + 0x1.0p-20 * (u - 0.5), 0x1.0p+31 * (v - 0.5));
  }
  return hash;
}

TEST(ExactMath, SameBitsInEveryBuild) {
  EXPECT_EQ(hash_of_results([](double a, double) { return math::log(a); }), 0xd3c970f534b6dd19U);
  EXPECT_EQ(hash_of_results([](double a, double) { return math::exp(a); }), 0x2801377fb593abdbU);
  EXPECT_EQ(hash_of_results([](double a, double b) { return math::pow(a, b); }), 0xd27343f7505dd07cU);
  EXPECT_EQ(hash_of_results([](double a, double b) { return math::pow(math::magnitude(a), b); }), 0x46e10c63552f2274U);
  EXPECT_EQ(hash_of_results([](double a, double) { return math::sin(a); }), 0x7c5c404fe7c9497eU);
  EXPECT_EQ(hash_of_results([](double a, double) { return math::cos(a); }), 0xf8c89e42cc49567fU);
  EXPECT_EQ(hash_of_results([](double a, double) { return math::asin(a); }), 0x5f1576829a0aa2caU);
  EXPECT_EQ(hash_of_results([](double a, double) { return math::acos(a); }), 0xaec2a0d7378b93baU);
}

}  // namespace
}  // namespace stope
