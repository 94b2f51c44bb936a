#include "discretize/value_order.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace stope::discretize {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

// Returns values in the order of the rule book: missing, -infinity, numbers, +infinity.
std::vector<double> ascending() {
  return {std::nan(""), -kInfinity, -kLargest, -1.0, -std::numeric_limits<double>::min(),
          -kTiny,       0.0,        kTiny,     1.0,  std::nextafter(1.0, 2.0),
          kLargest,     kInfinity};
}

TEST(ValueOrder, KeysAreInTheOrderOfTheValuesAndComeBack) {
  const std::vector<double> values = ascending();
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      EXPECT_EQ(order_key(values[i]) < order_key(values[j]), i < j) << values[i] << " " << values[j];
      EXPECT_EQ(below(values[i], values[j]), i < j) << values[i] << " " << values[j];
    }
    const double back = value_of(order_key(values[i]));
    EXPECT_TRUE(back == values[i] || (std::isnan(back) && std::isnan(values[i])));
  }
  EXPECT_EQ(order_key(-0.0), order_key(0.0));
  EXPECT_EQ(order_key(-0.0F), order_key(0.0F));
  EXPECT_EQ(order_key(-std::nan("7")), 0U);
}

TEST(ValueOrder, KeysOfFloatsSayTheSameAsThoseOfDoubles) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    const auto b =
        i % 3 == 0 ? std::nextafter(a, 1.0F) : std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    EXPECT_EQ(order_key(a) < order_key(b), order_key(x) < order_key(y)) << x << " " << y;
    EXPECT_EQ(order_key(a) == order_key(b), order_key(x) == order_key(y)) << x << " " << y;
    const double back = value_of(order_key(a));
    EXPECT_TRUE(back == x || (std::isnan(back) && std::isnan(x)));
  }
}

void expect_divides(double a, double b) {
  const double cut = cut_between(a, b);
  EXPECT_FALSE(goes_right(a, cut)) << a << " " << b << " " << cut;
  EXPECT_TRUE(goes_right(b, cut)) << a << " " << b << " " << cut;
  EXPECT_FALSE(std::signbit(cut) && cut == 0.0);
  EXPECT_EQ(cut == kMissingCut, std::isnan(a)) << a << " " << b;
  if (std::abs(a) < 1e300 && std::abs(b) < 1e300 && (a + b) / 2.0 > a) {
    EXPECT_EQ(cut, (a + b) / 2.0);
  }
}

TEST(ValueOrder, EveryCutDividesItsNeighbours) {
  const std::vector<double> values = ascending();
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) expect_divides(values[i], values[j]);
    if (below(values[i], -0.0)) expect_divides(values[i], -0.0);
  }
  Random random(2);
  for (int i = 0; i < 100000; ++i) {
    const auto a = std::bit_cast<double>(random.next());
    const double b = i % 2 == 0 ? std::nextafter(a, kInfinity) : std::bit_cast<double>(random.next());
    if (below(a, b)) expect_divides(a, b);
    if (below(b, a)) expect_divides(b, a);
  }
}

TEST(ValueOrder, TheMidpointTrap) {
  EXPECT_EQ(cut_between(1.0, 2.0), 1.5);
  const double next = std::nextafter(1.0, 2.0);
  EXPECT_EQ((1.0 + next) / 2.0, 1.0);  // this would send 1.0 right
  EXPECT_EQ(cut_between(1.0, next), next);
  EXPECT_EQ(cut_between(1e308, 1.7e308), 1e308 / 2 + 1.7e308 / 2);
  EXPECT_EQ(cut_between(-1.7e308, -1e308), -1.7e308 / 2 + -1e308 / 2);
  EXPECT_EQ(cut_between(-kInfinity, kInfinity), kInfinity);
  EXPECT_EQ(cut_between(-kInfinity, 3.0), 3.0);
  EXPECT_EQ(cut_between(3.0, kInfinity), kInfinity);
  EXPECT_EQ(cut_between(std::nan(""), -kInfinity), kMissingCut);
  EXPECT_EQ(cut_between(-kTiny, 0.0), 0.0);
}

}  // namespace
}  // namespace stope::discretize
