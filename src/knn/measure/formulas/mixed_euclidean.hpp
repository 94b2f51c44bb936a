// mixed-euclidean (RapidMiner MixedEuclideanDistance): sqrt(sum of (x-y)^2, or of x != y for nominal attributes).
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct MixedEuclidean {
  static constexpr FilterForm kFilter = {};
  static constexpr PlainForm kPlain = {.sum = PairSum::squares, .root = true};

  using State = PresentSum;
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    const double difference = x - y;
    const double term = a.nominal ? (x != y ? 1.0 : 0.0) : difference * difference;
    s.add(!either_missing(x, y), a.weight * term);
  }
  STOPE_HD double finish(const State& s) const { return square_root(s.or_nan()); }

  static double plain_term(double x, double y) { return (x - y) * (x - y); }
};

}  // namespace stope::knn
