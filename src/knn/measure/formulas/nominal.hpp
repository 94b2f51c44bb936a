// nominal-distance and RapidMiner's nominal similarities. e, f and u are the weights of the attributes that agree,
// agree on "false" (binominal attributes only), and differ. In the similarities a missing or unknown value counts as
// differing.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

/// nominal-distance: the number of attributes that differ.
struct NominalDistance {
  static constexpr FilterForm kFilter = {.term = Term::absolute, .finish = Finish::identity};

  using State = PresentSum;
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    s.add(!either_missing(x, y), x != y ? a.weight : 0.0);
  }
  STOPE_HD double finish(const State& s) const { return s.or_nan(); }
};

struct NominalCounts {
  struct State {
    double e = 0.0, f = 0.0, u = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    // NaN, an unseen value (a negative code) and a code beyond the mapping all fail this test.
    const bool known = x >= 0.0 && y >= 0.0 && x < a.n_values && y < a.n_values;
    const bool both_false = a.binominal && x == 0.0 && y == 0.0;
    const bool equal = a.binominal ? x != 0.0 && y != 0.0 : x == y;
    if (known && both_false) {
      s.f += a.weight;
    } else if (known && equal) {
      s.e += a.weight;
    } else {
      s.u += a.weight;
    }
  }
};

struct NominalDice : NominalCounts {
  STOPE_HD double finish(const State& s) const { return -(2.0 * s.e / (2.0 * s.e + s.u)); }
};
struct NominalJaccard : NominalCounts {
  STOPE_HD double finish(const State& s) const { return -(s.e / (s.e + s.u)); }
};
struct Kulczynski : NominalCounts {
  STOPE_HD double finish(const State& s) const { return -(s.e / s.u); }
};
struct RogersTanimoto : NominalCounts {
  STOPE_HD double finish(const State& s) const { return -((s.e + s.f) / (s.e + s.f + 2.0 * s.u)); }
};
struct RussellRao : NominalCounts {
  STOPE_HD double finish(const State& s) const { return -(s.e / (s.e + s.u + s.f)); }
};
struct SimpleMatching : NominalCounts {
  STOPE_HD double finish(const State& s) const { return -((s.e + s.f) / (s.e + s.u + s.f)); }
};

}  // namespace stope::knn
