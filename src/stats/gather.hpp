// Brings values that do not lie one behind the other into a leaf's order.
#pragma once

#include <cstdint>

#include "stats/source.hpp"

namespace stope::stats {

/// Copies values [first, first + n) of the source, times `scale`.
template <class T>
void gather(const Source& source, std::int64_t first, std::int64_t n, double scale, T* out) {
  const T* data = static_cast<const T*>(source.data);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = source.rows != nullptr ? source.rows[first + i] : first + i;
    out[i] = data[row * source.stride];
  }
  if (scale == 1.0) return;
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<double>(out[i]) * scale);
}

}  // namespace stope::stats
