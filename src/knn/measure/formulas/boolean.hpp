// hamming, jaccard and dice as in scikit-learn. hamming is the share of attributes that differ. jaccard and dice read
// numbers as booleans (non-zero = true).
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Hamming {
  static constexpr FilterForm kFilter = {
      .term = Term::absolute, .divisor = Divisor::present_weight, .space = Space::equality, .finish = Finish::identity};

  struct State {
    double unequal = 0.0;
    double weight = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    s.unequal += x != y ? a.weight : 0.0;
    s.weight += a.weight;
  }
  STOPE_HD double finish(const State& s) const { return s.weight > 0.0 ? s.unequal / s.weight : kNaN; }
};

struct BooleanCounts {
  struct State {
    double both = 0.0;  // true in both rows
    double unequal = 0.0;
    double compared = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    s.both += x != 0.0 && y != 0.0 ? a.weight : 0.0;
    s.unequal += (x != 0.0) != (y != 0.0) ? a.weight : 0.0;
    s.compared += 1.0;
  }
};

struct Jaccard : BooleanCounts {
  STOPE_HD double finish(const State& s) const {
    if (s.compared == 0.0) return kNaN;
    const double nonzero = s.both + s.unequal;
    return nonzero == 0.0 ? 0.0 : s.unequal / nonzero;
  }
};

struct Dice : BooleanCounts {
  STOPE_HD double finish(const State& s) const { return s.unequal / (2.0 * s.both + s.unequal); }
};

}  // namespace stope::knn
