// correlation (1 - r, SciPy) and correlation-similarity (-r, RapidMiner), where r is Pearson's coefficient over the
// attributes of the two rows. A missing value or a constant row gives NaN.
#pragma once

#include "knn/measure/measure.hpp"

namespace stope::knn {

struct CorrelationBase {
  // Two passes, means first: the one-pass formula cancels catastrophically for rows far from zero.
  STOPE_HD static double coefficient(const RowPair& p) {
    double weight = 0.0, x_sum = 0.0, y_sum = 0.0;
    for (std::int64_t i = 0; i < p.n; ++i) {
      const double w = p.attributes[i].weight;
      weight += w;
      x_sum += w * p.x[i];
      y_sum += w * p.y[i];
    }
    const double x_mean = x_sum / weight, y_mean = y_sum / weight;
    double xy = 0.0, xx = 0.0, yy = 0.0;
    for (std::int64_t i = 0; i < p.n; ++i) {
      const double w = p.attributes[i].weight;
      const double x = p.x[i] - x_mean, y = p.y[i] - y_mean;
      xy += w * (x * y);
      xx += w * (x * x);
      yy += w * (y * y);
    }
    return xy / square_root(xx * yy);
  }
};

struct Correlation : CorrelationBase {
  STOPE_HD double similarity(const RowPair& p) const {
    const double r = coefficient(p);
    return r > 1.0 ? 1.0 : r < -1.0 ? -1.0 : r;
  }
  STOPE_HD double operator()(const RowPair& p) const { return 1.0 - similarity(p); }
};

struct CorrelationSimilarity : CorrelationBase {
  STOPE_HD double operator()(const RowPair& p) const { return -coefficient(p); }
};

}  // namespace stope::knn
