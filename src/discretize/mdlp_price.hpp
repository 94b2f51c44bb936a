// What MDLP's description of a cut costs in bits (mdlp.cpp).
#pragma once

#include "discretize/score.hpp"

namespace stope::discretize {

inline double log2_of(double x) {
  return information(x) / x;
}

/// log2(3^k - 2) for k >= 1 classes.
inline double bits_of_choices(double k) {
  constexpr double kExact = 33.0;  // 3^33 < 2^53; beyond, the 2 is lost in rounding
  if (k > kExact) return k * log2_of(3.0);
  double power = 1.0;
  for (double i = 0.0; i < k; i += 1.0) power *= 3.0;
  return log2_of(power - 2.0);
}

}  // namespace stope::discretize
