// A sum over the bits of rows, which shows whether rows that an index shares with its caller have changed since the
// fit.
#pragma once

#include <bit>
#include <cstdint>

namespace stope::knn {

/// Sums up rows first, first + 1, ... first + n - 1, row-major. Sums of disjoint rows add up, in any order, to the sum
/// of all (modulo 2^64). Every value has an odd factor of its own, so that a change of one value always changes the
/// sum, and rows that change places change it, too. The upper half of a value's bits is mixed into the lower one:
/// otherwise a change of all exponents would leave all but 12 bits of the sum as they are.
inline std::uint64_t row_sum(const double* rows, std::int64_t first, std::int64_t n, std::int64_t width) {
  constexpr std::uint64_t kRow = 0x9e3779b97f4a7c15, kColumn = 0xc2b2ae3d27d4eb4e;
  // Rows are read one after the other. An early request helps where the CPU does not see that itself.
  constexpr std::int64_t kLine = 8, kAhead = 256;
  std::uint64_t sum = 0;
  for (std::int64_t row = first; row < first + n; ++row) {
    std::uint64_t factor = (static_cast<std::uint64_t>(row) + 1) * kRow;
    for (std::int64_t i = 0; i < width; ++i, ++rows, factor += kColumn) {
      if (i % kLine == 0) __builtin_prefetch(rows + kAhead);
      const auto bits = std::bit_cast<std::uint64_t>(*rows);
      sum += (bits ^ (bits >> 32)) * (factor | 1);
    }
  }
  return sum;
}

}  // namespace stope::knn
