// The arithmetic of the statistics (docs/numerics/stats.md): the shape of the sums, and how two parts of a column
// become one. One source serves CPU vectors, scalars and GPUs. It uses plain operations in one order, so the bits
// agree.
//
// Rows [8192 i, 8192 i + 8192) of a column are its leaf i. Row r of a leaf belongs to chain r mod 32. A chain thus has
// at most 256 rows, added in row order. Chains are joined in halves (0 with 16, 1 with 17, ...; then 0 with 8; ...).
// Leaves are joined in pairs of neighbours, then pairs of pairs; one that is left over goes up as it is. So any aligned
// group of 2^k leaves can be computed anywhere.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace stope::stats {

inline constexpr int kChains = 32;
inline constexpr int kChainRows = 256;
inline constexpr std::int64_t kLeafRows = std::int64_t{kChains} * kChainRows;

#define STOPE_MOMENTS_INLINE STOPE_HD inline
#include "stats/moment_arithmetic.inl"
#undef STOPE_MOMENTS_INLINE

/// The distance of two pivots, rounded once. The difference of two integers may need 65 bits.
STOPE_HD inline double distance(double a, double b) {
  return b - a;
}
STOPE_HD inline double distance(std::int64_t a, std::int64_t b) {
  const double high = static_cast<double>(b >> 32) - static_cast<double>(a >> 32);
  const double low = static_cast<double>(b & 0xffffffff) - static_cast<double>(a & 0xffffffff);
  return high * 4294967296.0 + low;
}

}  // namespace stope::stats
