#include "discretize/chi_square.hpp"

#include "base/exact_math.hpp"

namespace stope::discretize {
namespace {

// Returns ln of gamma(a + 1) for a whole or half a >= 1/2: a (a - 1) ... times gamma(1) or gamma(1/2).
double log_gamma_above(double a) {
  constexpr double kPi = 0x1.921fb54442d18p+1;
  double sum = 0.0, factor = a;
  for (; factor > 0.5; factor -= 1.0) sum += math::log(factor);
  return factor == 0.5 ? sum + math::log(0.5) + 0.5 * math::log(kPi) : sum;
}

}  // namespace

double chi_square_below(double x, double degrees) {
  if (!(x > 0.0)) return 0.0;
  const double a = degrees / 2.0, z = x / 2.0;
  // z^a e^-z / gamma(a + 1) (1 + z / (a + 1) + z^2 / ((a + 1) (a + 2)) + ...)
  const double log_first = a * math::log(z) - z - log_gamma_above(a);
  double term = 1.0, sum = 1.0;
  for (double i = a + 1.0; term > sum * 0x1.0p-60; i += 1.0) {
    term *= z / i;
    sum += term;
    if (sum > 0x1.0p900) return 1.0;  // far beyond the mean
  }
  const double share = math::exp(log_first + math::log(sum));
  return share < 1.0 ? share : 1.0;
}

double chi_square_quantile(double share, double degrees) {
  double low = 0.0, high = degrees + 1.0;
  while (chi_square_below(high, degrees) < share && high < 0x1.0p60) {
    low = high;
    high *= 2.0;
  }
  for (;;) {
    const double middle = low + (high - low) / 2.0;
    if (!(middle > low) || !(middle < high)) return high;
    (chi_square_below(middle, degrees) < share ? low : high) = middle;
  }
}

}  // namespace stope::discretize
