// euclidean: sqrt(sum (x-y)^2).
#pragma once

#include "knn/filter/form.hpp"
#include "knn/measures/sqeuclidean.hpp"

namespace stope::knn {

struct Euclidean : SquaredEuclidean {
  static constexpr FilterForm kFilter = {};

  STOPE_HD double finish(const State& s) const { return square_root(s.or_nan()); }
};

}  // namespace stope::knn
