// gower (Gower 1971): mean of |x-y|/range, or of x != y for nominal attributes, over the attributes present in both
// rows. The range is the training table's. A constant attribute counts as x != y.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Gower {
  static constexpr FilterForm kFilter = {
      .term = Term::absolute, .divisor = Divisor::present_weight, .space = Space::ranges, .finish = Finish::identity};

  struct State {
    double sum = 0.0;
    double weight = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    const double term = a.nominal || a.range == 0.0 ? (x != y ? 1.0 : 0.0) : absolute(x - y) / a.range;
    s.sum += a.weight * term;
    s.weight += a.weight;
  }
  STOPE_HD double finish(const State& s) const { return s.weight > 0.0 ? s.sum / s.weight : kNaN; }
};

}  // namespace stope::knn
