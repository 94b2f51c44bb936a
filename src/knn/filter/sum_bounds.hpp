// Bounds the sum over two images by what a distance proves, for host and device (docs/numerics/filter.md).
#pragma once

#include <cstdint>

#include "base/exact_math.hpp"
#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

/// Returns the next float that is not smaller.
STOPE_HD inline float round_up(double value) {
  const auto rounded = static_cast<float>(value);
  if (!(static_cast<double>(rounded) < value)) return rounded;
  // For non-negative numbers, up is away from 0.
  const auto bits = __builtin_bit_cast(std::uint32_t, rounded);
  if (rounded == 0.0F) return 0x1p-149F;
  return __builtin_bit_cast(float, rounded > 0.0F ? bits + 1 : bits - 1);
}

struct SumBounds {
  FilterForm form;
  std::int64_t n_columns;
  double unit;  ///< the image distance of two rows at distance 1
  double total_weight, least_weight;

  /// A sum is at most alpha * divisor + beta.
  struct Limit {
    double alpha, beta;
  };

  /// Returns the most that the sum over a pair's images can reach if its distance is at most `distance`. `residual` is
  /// of both rows together. This is in exact arithmetic: whoever computes the sum adds its rounding.
  STOPE_HD Limit limit(double distance, double residual) const {
    const auto columns = static_cast<double>(n_columns);
    // The reference's own rounding, in double. What underflows in it (a square or a weighted term) is below 1e-120 even
    // after the largest quotient of weights.
    const double bound = larger(distance, 0.0) * (1.0 + (columns + 16.0) * 0x1p-51) + 1e-120;
    switch (form.finish) {
      case Finish::root: return squared(bound * unit + residual);
      case Finish::half:
        // 1 - cos has an absolute error of one rounding per column.
        return squared(square_root(2.0 * bound + (columns + 16.0) * 0x1p-50) + residual);
      case Finish::chord_angle: {
        const double sine = math::sin(smaller(0.5 * bound, 1.5707963267948966));
        const double slack = form.space == Space::sphere ? 0.0 : (columns + 16.0) * 0x1p-50;
        return squared(square_root(4.0 * sine * sine * (1.0 + 1e-12) + slack) + residual);
      }
      case Finish::mean_root: {
        // The sum reaches (a + r)^2 with a^2 = weight * bound^2 / total, and (a + r)^2 <= (1 + e) a^2 + (1 + 1/e) r^2
        // for any e > 0.
        const double share = bound * unit / square_root(total_weight);
        if (residual == 0.0) return {share * share, 0.0};
        const double e = residual / (share * square_root(least_weight) + residual);
        return {(1.0 + e) * share * share, (1.0 + 1.0 / e) * residual * residual};
      }
      case Finish::negated: return {0.0, __builtin_inf()};  // ProductReach bounds it
      case Finish::identity: break;
    }
    if (form.term == Term::square) return squared(square_root(bound) * unit + residual);
    // Rounding x and y to float moves |x-y| / (|x|+|y|) by less than four units of rounding.
    if (form.term == Term::relative) return {0.0, bound + 8.0 * 0x1p-24 * total_weight};
    if (form.divisor == Divisor::present_weight) return {bound * unit, residual};
    if (form.divisor == Divisor::total) return {bound, (1.0 + bound) * residual};
    return {0.0, bound * unit + residual};
  }

  /// A float sum of `n_columns` non-negative terms, each of a few roundings, has less than this relative error.
  STOPE_HD double gamma() const { return 1.0 + (static_cast<double>(n_columns) + 8.0) * 0x1p-23; }

  /// Like limit(), for sums and divisors computed in float: adds the rounding of both, and what underflows.
  STOPE_HD Limit float_limit(double distance, double residual) const {
    Limit reach = limit(distance, residual);
    reach.alpha *= gamma() * gamma();
    reach.beta = reach.beta * gamma() * gamma() + (static_cast<double>(n_columns) + 1.0) * 1e-37;
    return reach;
  }

  /// Returns the most that the float sum between a row and a box can be, if a row in the box is within a distance that
  /// has this float_limit(); infinity where a box rules nothing out.
  STOPE_HD float box_cut(const Limit& limit) const {
    if (!boxes_bound(form)) return __builtin_inff();
    if (form.divisor == Divisor::none) return round_up(limit.beta);
    return round_up((limit.alpha * total_weight + limit.beta) * gamma());
  }

 private:
  STOPE_HD static Limit squared(double reach) { return {0.0, reach * reach}; }
};

}  // namespace stope::knn
