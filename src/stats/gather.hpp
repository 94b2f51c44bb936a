// Brings values that do not lie one behind the other into a leaf's order.
#pragma once

#include <cstdint>

#include "stats/source.hpp"

namespace stope::stats {

/// Copies values [first, first + n) of the source, whose elements are Stored, times `scale`.
template <class Stored>
void gather_stored(const Source& source, std::int64_t first, std::int64_t n, double scale, KernelOf<Stored>* out) {
  using T = KernelOf<Stored>;
  const auto* const data = static_cast<const Stored*>(source.data);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = source.rows != nullptr ? source.rows[first + i] : first + i;
    out[i] = static_cast<T>(+data[row * source.stride]);  // + since int8 is a number here, no character
  }
  if (scale == 1.0) return;
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<double>(out[i]) * scale);
}

/// The same for elements that the kernels read as T.
template <class T>
void gather(const Source& source, std::int64_t first, std::int64_t n, double scale, T* out) {
  with_type(source.type, [&](auto stored) {
    using Stored = decltype(stored);
    if constexpr (std::is_same_v<KernelOf<Stored>, T>) gather_stored<Stored>(source, first, n, scale, out);
  });
}

}  // namespace stope::stats
