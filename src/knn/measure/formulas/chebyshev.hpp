// chebyshev: max of weight * |x-y|.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Chebyshev {
  static constexpr FilterForm kFilter = {.term = Term::maximum, .finish = Finish::identity};
  static constexpr PlainForm kPlain = {.sum = PairSum::maximum};

  struct State {
    double max = 0.0;
    double compared = 0.0;
    bool undefined = false;  // inf - inf cannot be compared
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    const double term = a.weight * absolute(x - y);
    s.undefined = s.undefined || is_missing(term);
    s.max = larger(s.max, term);
    s.compared += 1.0;
  }
  STOPE_HD double finish(const State& s) const { return s.compared > 0.0 && !s.undefined ? s.max : kNaN; }
};

}  // namespace stope::knn
