// Gains on the GPU, with the CPU's bits (discretize/score.hpp). Kernels compare them by their bits: those of positive
// doubles are ordered as the doubles are.
#pragma once

#include <cstdint>

#include "discretize/cuda/gains.hpp"
#include "discretize/score.hpp"

namespace stope::discretize::cuda {

/// 0 for what is not above 0.
__device__ __forceinline__ unsigned long long bits_of_gain(double gain) {
  return gain > 0.0 ? static_cast<unsigned long long>(__double_as_longlong(gain)) : 0ULL;
}

__device__ __forceinline__ double information_of(const Gains& gains, std::int64_t count) {
  return gains.information != nullptr ? __ldg(gains.information + count) : information(static_cast<double>(count));
}

/// What a gain that is only rounding counts, because both parts hold the classes in the same proportions. Best cuts
/// have it as it is, and the host looks at the best one; trees pass it over.
enum class Rounded { counts, is_none };

/// The gain in Gini impurity where `left` rows of a node are on the left. w is W, and `of_classes` the sum of L_k P_k
/// over the classes, with L_k rows on the left and P_k in all. The sums of squares follow: that of L_k R_k is
/// left right - W and also of_classes - (sum of L_k^2).
__device__ __forceinline__ unsigned long long gini_bits(const NodeGains& node, std::int64_t left, std::int64_t w,
                                                        std::int64_t of_classes, Rounded rounded) {
  const std::int64_t right = node.n_rows - left;
  const std::int64_t left_squares = of_classes - (left * right - w);
  const std::int64_t right_squares = node.squares - 2 * of_classes + left_squares;
  const double gain = gini_gain(left_squares, left, right_squares, right, node.squares);
  if (rounded == Rounded::is_none && gain <= kMostRoundedGain) {
    // The squares are convex, so the exact gain is 0 where the proportions are the same, and only there. All is below
    // 2^121.
    const Int128 parts = static_cast<Int128>(left_squares) * right + static_cast<Int128>(right_squares) * left;
    if (parts * node.n_rows == static_cast<Int128>(node.squares) * left * right) return 0;
  }
  return bits_of_gain(gain);
}

/// The gain in entropy where `left` rows of a node are on the left. The sums are of information_of() over the classes
/// in order, of the rows on the left and on the right.
__device__ __forceinline__ unsigned long long entropy_bits(const Gains& gains, const NodeGains& node, std::int64_t left,
                                                           double left_sum, double right_sum) {
  const math::Real in_left = math::Real(information_of(gains, left)) - math::Real(left_sum);
  const math::Real in_right = math::Real(information_of(gains, node.n_rows - left)) - math::Real(right_sum);
  return bits_of_gain(entropy_gain(node.entropy, in_left.value, in_right.value, node.n_rows));
}

}  // namespace stope::discretize::cuda
