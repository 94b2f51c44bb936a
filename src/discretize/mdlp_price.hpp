// What MDLP's description of a cut costs in bits, and whether a cut pays for it. It is compiled for host and device.
#pragma once

#include <cstdint>

#include "discretize/score.hpp"

namespace stope::discretize {

STOPE_HD inline double log2_of(double x) {
  return information(x) / x;
}

/// log2(3^k - 2) for k >= 1 classes.
STOPE_HD inline double bits_of_choices(double k) {
  constexpr double kExact = 33.0;  // 3^33 < 2^53; beyond, the 2 is lost in rounding
  if (k > kExact) return k * log2_of(3.0);
  double power = 1.0;
  for (double i = 0.0; i < k; i += 1.0) power *= 3.0;
  return log2_of(power - 2.0);
}

/// What MDLP needs to know of an interval, or of a part of it.
struct PricedPart {
  double n_present;  ///< classes that have rows in it
  double entropy;    ///< total_entropy() of its class counts, divided by their sum
};

/// gain > (log2(N - 1) + log2(3^k - 2) - (k E - k_1 E_1 - k_2 E_2)) / N, for N = n_rows >= 2; the last N is `weight`.
STOPE_HD inline bool cut_pays(double gain, const PricedPart& both, const PricedPart& left, const PricedPart& right,
                              std::int64_t n_rows, double weight) {
  const double delta =
      bits_of_choices(both.n_present) -
      (both.n_present * both.entropy - left.n_present * left.entropy - right.n_present * right.entropy);
  return gain > (log2_of(static_cast<double>(n_rows - 1)) + delta) / weight;
}

}  // namespace stope::discretize
