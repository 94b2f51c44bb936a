// What a split is worth to the fake plug-in: computed anew from class counts.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "discretize/cuda_abi.hpp"
#include "discretize/score.hpp"

namespace stope::fake {

/// W, or the bits of the gain; 0 if it is not above 0.
inline std::int64_t worth_of(discretize::cuda_abi::Score score, const std::vector<std::int64_t>& left,
                             const std::vector<std::int64_t>& both) {
  using discretize::total_entropy;
  using discretize::cuda_abi::Score;
  const auto n_classes = static_cast<std::int64_t>(both.size());
  if (score == Score::pairs) {
    return discretize::discernibility<std::int64_t>(left.data(), both.data(), n_classes);
  }
  std::vector<std::int64_t> right(both);
  discretize::Int128 squares[3] = {};
  std::int64_t in_left = 0, in_right = 0;
  for (std::size_t k = 0; k < both.size(); ++k) {
    right[k] -= left[k];
    in_left += left[k];
    in_right += right[k];
    squares[0] += static_cast<discretize::Int128>(left[k]) * left[k];
    squares[1] += static_cast<discretize::Int128>(right[k]) * right[k];
    squares[2] += static_cast<discretize::Int128>(both[k]) * both[k];
  }
  const double gain =
      score == Score::gini
          ? discretize::gini_gain(squares[0], in_left, squares[1], in_right, squares[2])
          : discretize::entropy_gain(total_entropy(both.data(), n_classes), total_entropy(left.data(), n_classes),
                                     total_entropy(right.data(), n_classes), in_left + in_right);
  return gain > 0.0 ? std::bit_cast<std::int64_t>(gain) : 0;
}

}  // namespace stope::fake
