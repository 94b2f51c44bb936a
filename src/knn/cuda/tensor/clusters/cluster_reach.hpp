// Decides whether a query needs a cluster, in floats and without a root per pair (docs/numerics/filter.md, "Tiles that
// are left out"). Host and device compute the same bits. Every rounding is covered by a margin, so that no rounding
// mode is needed.
#pragma once

#include <cmath>

#include "base/host_device.hpp"

namespace stope::knn::cuda {

/// The share of both norms that covers the roundings of a square in floats. It is 8 of 2^-24; fewer than 5 are used.
inline constexpr double kReachMargin = 0x1p-21;
/// The norms of images were rounded up, by less than a fifth of this share.
inline constexpr double kNormMargin = 1e-6;

/// How far a query reaches. It needs a cluster unless its distance from the centre exceeds the radius and `reach`.
struct QueryReach {
  float square;  ///< at most |q|^2 less its share of all errors; -infinity: it needs every cluster
  float reach;   ///< a row farther from the query than this has a score below its threshold
  bool none;     ///< nothing is listed for it: it needs no cluster
};

/// What QueryReach is made of, all of one query.
struct ReachTerms {
  double square;        ///< |q|^2
  double norm;          ///< at least |q|^2
  double error;         ///< of a score
  double shift;         ///< of the scores
  double threshold;     ///< rows with a score below this are not listed
  double accumulation;  ///< products with centres are off by at most this share of half of both norms
};

/// Returns a float that is at most x. NaN and numbers beyond 1e30 become -infinity.
STOPE_HD inline float float_below(double x) {
  constexpr double kMost = 1e30;
  if (!(x > -kMost && x < kMost)) return -HUGE_VALF;
  return static_cast<float>(x - 0x1p-23 * (x < 0.0 ? -x : x) - 0x1p-148);
}

/// Returns a float that is at least x. NaN and numbers beyond 1e30 become infinity.
STOPE_HD inline float float_above(double x) {
  return -float_below(-x);
}

STOPE_HD inline QueryReach reach_of(const ReachTerms& of, bool none) {
  const double start = of.square - (of.accumulation + kReachMargin) * of.norm;
  // A row at the distance a has a score of at most (|q|^2 - a^2) / 2 + shift + error.
  const double sizes = of.square + 2.0 * (of.error + of.shift) + 2.0 * std::fabs(of.threshold);
  const double farthest = of.square + 2.0 * (of.error + of.shift) - 2.0 * of.threshold + 1e-12 * sizes;
  // The root of NaN is NaN, which becomes infinity.
  const double reach = farthest <= 0.0 ? 0.0 : std::sqrt(farthest) * (1.0 + 1e-12);
  return {float_below(start), float_above(reach), none};
}

/// The share of a centre's norm that is left when all errors are taken off.
STOPE_HD inline float centre_share(double accumulation) {
  return static_cast<float>(1.0 - kNormMargin - accumulation - kReachMargin);
}

/// Whether the scan may leave out the cluster for this query. `product` is that of query and centre; `radius` is
/// infinite where the cluster has rows at any distance. False wherever a number is NaN, or an image has no norm.
STOPE_HD inline bool is_out_of_reach(const QueryReach& query, float share, float centre_norm, float product,
                                     float radius) {
  if (query.none) return true;
  const float square = query.square + centre_norm * share - 2.0F * product;
  const float near = (radius + query.reach) * 1.000001F;
  return square > near * near && square < HUGE_VALF;
}

}  // namespace stope::knn::cuda
