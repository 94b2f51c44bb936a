// euclidean: sqrt(sum (x-y)^2).
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/formulas/sqeuclidean.hpp"

namespace stope::knn {

struct Euclidean : SquaredEuclidean {
  static constexpr FilterForm kFilter = {};
  static constexpr PlainForm kPlain = {.sum = PairSum::squares, .root = true};

  STOPE_HD double finish(const State& s) const { return square_root(s.or_nan()); }
};

}  // namespace stope::knn
