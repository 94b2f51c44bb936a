// heom (Wilson & Martinez 1997): sqrt(sum of squares of |x-y|/range, or of x != y for nominal attributes); a value
// missing in either row counts as 1.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Heom {
  static constexpr FilterForm kFilter = {.missing = Missing::mismatch, .space = Space::ranges};

  struct State {
    double sum = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    double term = 1.0;
    if (!either_missing(x, y)) {
      term = a.nominal || a.range == 0.0 ? (x != y ? 1.0 : 0.0) : absolute(x - y) / a.range;
    }
    s.sum += a.weight * (term * term);
  }
  STOPE_HD double finish(const State& s) const { return square_root(s.sum); }
};

}  // namespace stope::knn
