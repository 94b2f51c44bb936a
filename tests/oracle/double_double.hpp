// Sums of products in double-double arithmetic (Dekker 1971; Ogita, Rump and Oishi 2005, Dot2): each sum is a double
// and the rest of it, so its own error is near 2^-106 of the magnitudes. It shares nothing with src/.
#pragma once

#include <cmath>
#include <cstdint>

namespace stope::oracle {

struct DoubleDouble {
  double high = 0.0, low = 0.0;

  void add(double term) {
    const double sum = high + term, part = sum - high;
    low += (high - (sum - part)) + (term - part);
    high = sum;
  }
  void add_product(double a, double b) {
    const double product = a * b;
    add(product);
    low += std::fma(a, b, -product);
  }
  /// How far `value` is from the sum.
  double distance(double value) const { return std::fabs((value - high) - low); }
};

/// The sum of a(row) * b(row), and the sum of the magnitudes of its terms.
struct ExactProduct {
  DoubleDouble sum;
  double magnitude = 0.0;
};

template <class A, class B>
ExactProduct exact_product(std::int64_t n, const A& a, const B& b) {
  ExactProduct result;
  for (std::int64_t row = 0; row < n; ++row) {
    result.sum.add_product(a(row), b(row));
    result.magnitude += std::fabs(a(row) * b(row));
  }
  return result;
}

}  // namespace stope::oracle
