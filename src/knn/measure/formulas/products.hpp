// RapidMiner's numerical similarities that consist of sums of products; the distance is the negated similarity.
#pragma once

#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct ProductSums {
  struct State {
    double xy = 0.0, x = 0.0, y = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    s.xy += a.weight * (x * y);
    s.x += a.weight * x;
    s.y += a.weight * y;
  }
};

/// dice-similarity: 2 sum xy / (sum x + sum y); 0/0 is NaN.
struct DiceSimilarity : ProductSums {
  STOPE_HD double finish(const State& s) const { return -(2.0 * s.xy / (s.x + s.y)); }
};

/// jaccard-similarity: sum xy / (sum x + sum y - sum xy); NaN if the denominator is 0.
struct JaccardSimilarity : ProductSums {
  STOPE_HD double finish(const State& s) const {
    const double denominator = s.x + s.y - s.xy;
    return denominator == 0.0 ? kNaN : -(s.xy / denominator);
  }
};

/// overlap-similarity: sum min(x,y) / min(sum x, sum y); 0/0 is NaN.
struct OverlapSimilarity {
  struct State {
    double min = 0.0, x = 0.0, y = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    s.min += a.weight * smaller(x, y);
    s.x += a.weight * x;
    s.y += a.weight * y;
  }
  STOPE_HD double finish(const State& s) const { return -(s.min / smaller(s.x, s.y)); }
};

/// inner-product: sum yx.
struct InnerProduct {
  static constexpr FilterForm kFilter = {
      .term = Term::product, .missing = Missing::undefined, .finish = Finish::negated};

  bool nan_if_none = true;  ///< false under Compat::rapidminer, where nothing in common gives -0.0

  using State = PresentSum;
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    s.add(!either_missing(x, y), a.weight * (y * x));
  }
  STOPE_HD static double plain_term(double x, double y) { return y * x; }
  STOPE_HD double finish(const State& s) const { return s.compared == 0.0 && nan_if_none ? kNaN : -s.sum; }
};

/// max-product: the largest product yx, NaN unless it is positive.
struct MaxProduct {
  struct State {
    double max = -kInfinity;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    s.max = larger(s.max, a.weight * (y * x));
  }
  STOPE_HD double finish(const State& s) const { return s.max > 0.0 ? -s.max : kNaN; }
};

}  // namespace stope::knn
