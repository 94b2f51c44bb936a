// manhattan: sum |x-y|.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Manhattan {
  static constexpr FilterForm kFilter = {.term = Term::absolute, .finish = Finish::identity};
  static constexpr PlainForm kPlain = {.sum = PairSum::absolutes};

  using State = PresentSum;
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    s.add(!either_missing(x, y), a.weight * absolute(x - y));
  }
  STOPE_HD double finish(const State& s) const { return s.or_nan(); }
};

}  // namespace stope::knn
