// cosine (1 - s, scikit-learn) and cosine-similarity (the angle acos(s), RapidMiner CosineSimilarity), where
// s = sum yx / (sqrt(sum x^2) sqrt(sum y^2)).
#pragma once

#include "base/exact_math.hpp"
#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct CosineSums {
  struct State {
    double xy = 0.0, xx = 0.0, yy = 0.0;
    double compared = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    if (either_missing(x, y)) return;
    s.xy += a.weight * (y * x);
    s.xx += a.weight * (x * x);
    s.yy += a.weight * (y * y);
    s.compared += 1.0;
  }
  /// The cosine in [-1, 1] of two rows of positive norm.
  STOPE_HD static double clamped(const State& s) {
    const double cosine = s.xy / (square_root(s.xx) * square_root(s.yy));
    return cosine > 1.0 ? 1.0 : cosine < -1.0 ? -1.0 : cosine;
  }
};

struct Cosine : CosineSums {
  static constexpr FilterForm kFilter = {
      .missing = Missing::undefined, .space = Space::unit_rows, .finish = Finish::half};

  STOPE_HD double similarity(const State& s) const {
    if (s.compared == 0.0) return kNaN;
    return s.xx > 0.0 && s.yy > 0.0 ? clamped(s) : s.xx == 0.0 || s.yy == 0.0 ? 0.0 : kNaN;
  }
  STOPE_HD double finish(const State& s) const { return 1.0 - similarity(s); }
};

/// A zero row is at a right angle to every other and at angle 0 to a zero row.
struct CosineAngle : CosineSums {
  static constexpr FilterForm kFilter = {
      .missing = Missing::undefined, .space = Space::unit_rows, .finish = Finish::chord_angle};

  bool nan_if_none = true;  ///< false under Compat::rapidminer, where two rows with nothing in common are at angle 0

  STOPE_HD double similarity(const State& s) const {
    if (s.compared == 0.0 && nan_if_none) return kNaN;
    if (s.xx > 0.0 && s.yy > 0.0) return clamped(s);
    return s.xx == 0.0 && s.yy == 0.0 ? 1.0 : 0.0;
  }
  STOPE_HD double finish(const State& s) const { return math::acos(similarity(s)); }
};

}  // namespace stope::knn
