// minkowski: (sum weight * |x-y|^p)^(1/p), p > 0; p = 1, 2 and infinity are manhattan, euclidean and chebyshev.
#pragma once

#include "base/exact_math.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Minkowski {
  static constexpr bool kUsesLogarithms = true;  // pow

  double p = 2.0;

  using State = PresentSum;
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    const bool present = !either_missing(x, y);
    s.add(present, present ? a.weight * math::pow(absolute(x - y), p) : 0.0);
  }
  STOPE_HD double finish(const State& s) const { return s.compared > 0.0 ? math::pow(s.sum, 1.0 / p) : kNaN; }
};

}  // namespace stope::knn
