// haversine: great-circle angle between two points (latitude, longitude) in radians; exactly two attributes.
#pragma once

#include "base/exact_math.hpp"
#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

struct Haversine {
  static constexpr bool kUsesLogarithms = true;  // sin and cos
  static constexpr FilterForm kFilter = {
      .missing = Missing::undefined, .space = Space::sphere, .finish = Finish::chord_angle};

  STOPE_HD double operator()(const RowPair& p) const {
    const double sin_lat = math::sin(0.5 * (p.x[0] - p.y[0]));
    const double sin_lon = math::sin(0.5 * (p.x[1] - p.y[1]));
    const double h = sin_lat * sin_lat + math::cos(p.x[0]) * math::cos(p.y[0]) * (sin_lon * sin_lon);
    return 2.0 * math::asin(square_root(h > 1.0 ? 1.0 : h));
  }
};

}  // namespace stope::knn
