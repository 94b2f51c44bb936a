// Values that do not lie one behind the other, brought into a leaf's order.
#pragma once

#include <cstdint>

#include "stats/source.hpp"

namespace stope::stats {

/// Values [first, first + n) of the source, times `scale`.
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

/// Columns [0, n_columns) of `n` rows that are `stride` values apart: column c goes to out[c * out_stride]. In squares
/// that fit the first cache.
template <class T>
void gather_rows(const T* rows, std::int64_t stride, std::int64_t n, std::int64_t n_columns, T* out,
                 std::int64_t out_stride) {
  constexpr std::int64_t kSquare = 16, kAhead = 48;  // rows far apart are nothing that the processor fetches by itself
  for (std::int64_t first = 0; first < n; first += kSquare) {
    const std::int64_t end = first + kSquare < n ? first + kSquare : n;
    for (std::int64_t r = first + kAhead; r < end + kAhead && r < n; ++r) {
      __builtin_prefetch(rows + r * stride);
      __builtin_prefetch(rows + r * stride + n_columns - 1);
    }
    for (std::int64_t c = 0; c < n_columns; ++c) {
      for (std::int64_t r = first; r < end; ++r) out[c * out_stride + r] = rows[r * stride + c];
    }
  }
}

}  // namespace stope::stats
