// canberra (scikit-learn, SciPy): sum |x-y| / (|x|+|y|), where a term 0/0 counts as 0.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Canberra {
  static constexpr FilterForm kFilter = {.term = Term::relative, .finish = Finish::identity};
  static constexpr PlainForm kPlain = {.sum = PairSum::relative};

  using State = PresentSum;
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    const double denominator = absolute(x) + absolute(y);
    const double term = denominator == 0.0 ? 0.0 : absolute(x - y) / denominator;
    s.add(!either_missing(x, y), a.weight * term);
  }
  STOPE_HD double finish(const State& s) const { return s.or_nan(); }
};

/// RapidMiner's CamberraDistance: the denominator is |x+y|. A term a/0 is infinity, and a term 0/0 makes the sum NaN.
struct RapidMinerCanberra {
  using State = PresentSum;
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    const bool present = !either_missing(x, y);
    s.add(present, present ? a.weight * (absolute(x - y) / absolute(x + y)) : 0.0);
  }
  STOPE_HD double finish(const State& s) const { return s.or_nan(); }
};

}  // namespace stope::knn
