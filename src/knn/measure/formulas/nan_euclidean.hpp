// nan-euclidean (scikit-learn nan_euclidean_distances): sqrt(sum / weight compared * total weight), so that rows with
// missing values stay comparable with complete ones. A nominal attribute adds x != y.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct NanEuclidean {
  static constexpr FilterForm kFilter = {.divisor = Divisor::present_weight, .finish = Finish::mean_root};

  double total_weight = 0.0;

  struct State {
    double sum = 0.0;
    double weight = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    const bool present = !either_missing(x, y);
    const double difference = x - y;
    const double term = a.nominal ? (x != y ? 1.0 : 0.0) : difference * difference;
    s.sum += present ? a.weight * term : 0.0;
    s.weight += present ? a.weight : 0.0;
  }
  STOPE_HD double finish(const State& s) const {
    return s.weight > 0.0 ? square_root(s.sum / s.weight * total_weight) : kNaN;
  }
};

}  // namespace stope::knn
