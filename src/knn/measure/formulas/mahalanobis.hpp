// mahalanobis: sqrt(d' C^-1 d), where d = x - y and C is the covariance (n-1) of the training rows. Missing values give
// NaN.
#pragma once

#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Mahalanobis {
  const double* inverse = nullptr;  ///< C^-1, n x n, row-major; the maker of the measure keeps it alive

  STOPE_HD static std::int64_t terms(std::int64_t n) { return n * n; }

  STOPE_HD double operator()(const RowPair& p) const {
    double sum = 0.0;
    for (std::int64_t i = 0; i < p.n; ++i) {
      double product = 0.0;
      for (std::int64_t j = 0; j < p.n; ++j) product += inverse[i * p.n + j] * (p.x[j] - p.y[j]);
      sum += (p.x[i] - p.y[i]) * product;
    }
    // Rounding can leave a tiny negative form for equal or nearly equal rows.
    return square_root(sum < 0.0 ? 0.0 : sum);
  }
};

}  // namespace stope::knn
