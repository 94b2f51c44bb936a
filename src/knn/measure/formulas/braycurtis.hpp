// braycurtis (scikit-learn's BrayCurtisDistance): sum |x-y| / (sum |x| + sum |y|); two zero rows are 0 apart.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct BrayCurtis {
  static constexpr FilterForm kFilter = {.term = Term::absolute, .divisor = Divisor::total, .finish = Finish::identity};

  struct State {
    double difference = 0.0;
    double total = 0.0;
    double compared = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    s.difference += a.weight * absolute(x - y);
    s.total += a.weight * (absolute(x) + absolute(y));
    s.compared += 1.0;
  }
  STOPE_HD double finish(const State& s) const {
    if (s.compared == 0.0) return kNaN;
    return s.total == 0.0 ? 0.0 : s.difference / s.total;
  }
};

}  // namespace stope::knn
