// What a split into a left and a right part is worth. It is compiled for host and device.
//
// W, the discernibility, is the number of unordered pairs of rows of different classes that the split separates. The
// parts have class counts L_i and R_i, whose sums are L and R; then W = L R - sum of L_i R_i. It is an exact integer.
// Rows may have weights, multiples of 2^-20, which are counted in that unit; W is then in units of 2^-40.
// Gini and entropy gains are doubles, computed from the exact counts in one order of operations.
#pragma once

#include <cstdint>

#include "base/exact_math/log.hpp"
#include "base/host_device.hpp"

namespace stope::discretize {

__extension__ typedef __int128 Int128;  // NOLINT(modernize-use-using): __extension__ wants a declaration

/// Without weights, W < 2^63 if rows are fewer than 2^32.
inline constexpr std::int64_t kMostRows = (std::int64_t{1} << 32) - 1;

/// Weights are counted in this unit; their sum stays below 2^62 units, so that L R fits 128 bits.
inline constexpr double kWeightUnit = 0x1.0p-20;
inline constexpr std::int64_t kMostWeight = (std::int64_t{1} << 62) - 1;

/// The gain of W when a row of weight `weight` and class k moves from right to left: weight ((R - R_k) - (L - L_k)),
/// with the counts before the move. total and class_total count both parts, left and left_class the left one. Score is
/// std::int64_t, or Int128 for weights.
template <class Score>
STOPE_HD constexpr Score discernibility_step(Score weight, Score total, Score class_total, Score left,
                                             Score left_class) {
  return weight * ((total - class_total) - 2 * (left - left_class));
}

/// W from the class counts of the left part and of both. It is slow, for single splits.
template <class Score>
STOPE_HD constexpr Score discernibility(const std::int64_t* left, const std::int64_t* both, std::int64_t n_classes) {
  Score in_left = 0, in_right = 0, same = 0;
  for (std::int64_t k = 0; k < n_classes; ++k) {
    const Score l = left[k], r = static_cast<Score>(both[k]) - l;
    in_left += l;
    in_right += r;
    same += l * r;
  }
  return in_left * in_right - same;
}

/// W of two classes from the rows of the first class that go left, and from all rows that do. Score may be unsigned: it
/// wraps on the way, but W does not, if it fits.
template <class Score>
STOPE_HD constexpr Score discernibility_of_two(Score first, Score left, Score n_first, Score n_second) {
  return left * n_first + first * (n_second - n_first - 2 * left + 2 * first);
}

/// An integer >= 0 as a double, with the same bits on host and device: rounded once below 2^64, three times above.
STOPE_HD inline double to_double(Int128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64), low = static_cast<std::uint64_t>(value);
  return (math::Real(static_cast<double>(high)) * math::Real(0x1.0p64) + math::Real(static_cast<double>(low))).value;
}

/// The gain in Gini impurity from the sums of squared class counts of left, right and both parts: (left_squares / left
/// + right_squares / right) / both - both_squares / both / both.
STOPE_HD inline double gini_gain(Int128 left_squares, std::int64_t left, Int128 right_squares, std::int64_t right,
                                 Int128 both_squares) {
  const math::Real n = static_cast<double>(left + right);
  const math::Real parts = math::Real(to_double(left_squares)) / math::Real(static_cast<double>(left)) +
                           math::Real(to_double(right_squares)) / math::Real(static_cast<double>(right));
  return (parts / n - math::Real(to_double(both_squares)) / n / n).value;
}

/// x log2(x); 0 for 0. Its error is that of the logarithm and of two roundings.
STOPE_HD inline double information(double x) {
  constexpr double kPerLog2 = 0x1.71547652b82fep+0;  // 1 / ln 2
  return x > 0.0 ? (math::Real(x) * math::Real(math::log(x)) * math::Real(kPerLog2)).value : 0.0;
}

/// Tables of information() hold numbers up to this; larger ones are computed.
inline constexpr std::int64_t kMostInformation = std::int64_t{1} << 20;

/// n times the entropy in bits of a part with these class counts: information(n) - sum of information(count), classes
/// in order.
STOPE_HD inline double total_entropy(const std::int64_t* counts, std::int64_t n_classes) {
  std::int64_t n = 0;
  math::Real sum = 0.0;
  for (std::int64_t k = 0; k < n_classes; ++k) {
    n += counts[k];
    sum = sum + math::Real(information(static_cast<double>(counts[k])));
  }
  return (math::Real(information(static_cast<double>(n))) - sum).value;
}

/// The gain in entropy from total_entropy() of both parts together, of the left one and of the right one; n counts the
/// rows of both.
STOPE_HD inline double entropy_gain(double both, double left, double right, std::int64_t n) {
  return ((math::Real(both) - (math::Real(left) + math::Real(right))) / math::Real(static_cast<double>(n))).value;
}

/// Where both parts hold the classes in the same proportions, rounding makes a gain of at most this: of fewer than 2^30
/// rows without weights, in up to 256 classes; and of rows with weights. docs/numerics/discretize.md says why.
inline constexpr double kMostRoundedGain = 0x1.0p-38, kMostRoundedWeightedGain = 0x1.0p-37;

/// Whether both parts hold the classes in the same proportions. A gain above zero is then only rounding.
STOPE_HD constexpr bool same_proportions(const std::int64_t* left, std::int64_t left_total, const std::int64_t* both,
                                         std::int64_t total, std::int64_t n_classes) {
  for (std::int64_t k = 0; k < n_classes; ++k) {
    if (static_cast<Int128>(left[k]) * total != static_cast<Int128>(both[k]) * left_total) return false;
  }
  return true;
}

}  // namespace stope::discretize
