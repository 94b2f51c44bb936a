// sqeuclidean: sum (x-y)^2.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

// We do not expand (x-y)^2 into x^2 + y^2 - 2xy: two rows of norm 1e6 lying 1 apart would lose the 1 entirely.
struct SquaredEuclidean {
  static constexpr FilterForm kFilter = {.finish = Finish::identity};
  static constexpr PlainForm kPlain = {.sum = PairSum::squares};

  using State = PresentSum;
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    const double difference = x - y;
    s.add(!either_missing(x, y), a.weight * (difference * difference));
  }
  STOPE_HD double finish(const State& s) const { return s.or_nan(); }

  static double plain_term(double x, double y) { return (x - y) * (x - y); }
};

}  // namespace stope::knn
