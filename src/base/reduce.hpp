// Deterministic floating-point sums: their shape depends on the length alone, never on threads or tiles.
#pragma once

#include <cstdint>
#include <span>

namespace stope {

/// Pairwise sum: leaves of 128 values added in order, split at the first multiple of 128 at or after the middle.
/// Error O(log n) ulps of the sum of absolute values (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
double pairwise_sum(std::span<const double> values);

}  // namespace stope
