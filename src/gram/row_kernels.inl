// The loops of gram/row_kernels.hpp for one instruction set (base/simd/target_region.hpp). Vectors run along the
// columns, so that rows are read as they lie; sums run down the rows in row order, a column to a lane.

namespace {

#include "base/simd/prelude.inl"
#include "gram/partial_vectors.inl"

constexpr std::int64_t kTileColumns = 16;
// Rows that pass through the registers at a time, so that sums and terms are read once for all of them.
constexpr int kAtOnce = 4;

template <bool whole, class T>
STOPE_INLINE Doubles values_at(const T* p, std::int64_t n) {
  if constexpr (whole) return doubles_at(p);
  return load_some(p, n);
}
template <bool whole>
STOPE_INLINE void put(double* p, Doubles v, std::int64_t n) {
  if constexpr (whole) return store(p, v);
  store_some(p, v, n);
}

template <bool whole, class T>
STOPE_INLINE Doubles moved_at(const T* from, const Moves& moves, std::int64_t c, std::int64_t n) {
  const Doubles minus = values_at<whole>(moves.minus + c, n), times = values_at<whole>(moves.times + c, n);
  return (values_at<whole>(from + c, n) - minus) * times;
}

template <class T>
void by_rows(const RowBlock<T>& rows, const Moves& moves, double* out, std::int64_t out_stride) {
  for (std::int64_t r = 0; r < rows.n_rows; ++r) {
    const T* const from = rows.first + r * rows.stride;
    double* const to = out + r * out_stride;
    std::int64_t c = 0;
    for (; c + kLanes <= rows.n_columns; c += kLanes) store(to + c, moved_at<true>(from, moves, c, kLanes));
    const std::int64_t left = rows.n_columns - c;
    if (left > 0) store_some(to + c, moved_at<false>(from, moves, c, left), left);
  }
}

template <class T>
void tiles(const RowBlock<T>& rows, const Moves& moves, double* out, std::int64_t tile_stride) {
  const std::int64_t whole_columns = rows.n_columns / kTileColumns * kTileColumns;
  for (std::int64_t r = 0; r < rows.n_rows; ++r) {
    const T* const from = rows.first + r * rows.stride;
    double* to = out + r * kTileColumns;
    std::int64_t c = 0;
    for (; c < whole_columns; to += tile_stride) {
#pragma GCC unroll 8
      for (int i = 0; i < kTileColumns; i += kLanes, c += kLanes) {
        store(to + i, moved_at<true>(from, moves, c, kLanes));
      }
    }
    if (c == rows.n_columns) continue;
    for (int i = 0; i < kTileColumns; i += kLanes, c += kLanes) {
      store(to + i, c < rows.n_columns ? moved_at<false>(from, moves, c, rows.n_columns - c) : Doubles{});
    }
  }
}

// A square of values, one register of each of as many rows, is transposed in registers. Without moves they are copied.
template <bool whole, class T>
STOPE_INLINE void square(const RowBlock<T>& rows, const Moves* moves, std::int64_t r, std::int64_t c, double* out,
                         std::int64_t out_stride) {
  const std::int64_t n_rows = rows.n_rows - r, n_columns = rows.n_columns - c;
  Doubles v[kLanes];
#pragma GCC unroll 8
  for (int i = 0; i < kLanes; ++i) {
    const T* const from = rows.first + (r + i) * rows.stride + c;
    if constexpr (whole) {
      __builtin_prefetch(from + rows.n_columns, 0, 2);
      v[i] = doubles_at(from);
    } else {
      v[i] = i < n_rows ? load_some(from, n_columns) : Doubles{};
    }
  }
  if (moves != nullptr) {
    const Doubles minus = values_at<whole>(moves->minus + c, n_columns);
    const Doubles times = values_at<whole>(moves->times + c, n_columns);
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) v[i] = (v[i] - minus) * times;
  }
  transpose(v);
#pragma GCC unroll 8
  for (int i = 0; i < kLanes; ++i) {
    double* const to = out + (c + i) * out_stride + r;
    if constexpr (whole) {
      store(to, v[i]);
    } else {
      if (i < n_columns) store_some(to, v[i], n_rows);
    }
  }
}

template <class T>
STOPE_INLINE void squares_of(const RowBlock<T>& rows, const Moves* moves, double* out, std::int64_t out_stride) {
  for (std::int64_t r = 0; r < rows.n_rows; r += kLanes) {
    const bool all_rows = r + kLanes <= rows.n_rows;
    for (std::int64_t c = 0; c < rows.n_columns; c += kLanes) {
      if (all_rows && c + kLanes <= rows.n_columns) {
        square<true>(rows, moves, r, c, out, out_stride);
      } else {
        square<false>(rows, moves, r, c, out, out_stride);
      }
    }
  }
}

template <class T>
void by_columns(const RowBlock<T>& rows, const Moves& moves, double* out, std::int64_t out_stride) {
  squares_of(rows, &moves, out, out_stride);
}
template <class T>
void turn(const RowBlock<T>& rows, double* out, std::int64_t out_stride) {
  squares_of<T>(rows, nullptr, out, out_stride);
}

template <class T, int n_rows, bool whole>
STOPE_INLINE void add_values(const T* from, std::int64_t stride, std::int64_t c, std::int64_t n,
                             const RunningExtents& to) {
  Doubles sum = values_at<whole>(to.sum + c, n), low = values_at<whole>(to.low + c, n);
  Doubles high = values_at<whole>(to.high + c, n);
#pragma GCC unroll 4
  for (int i = 0; i < n_rows; ++i) {
    const Doubles v = values_at<whole>(from + i * stride + c, n);
    sum += v;
    low = select(v < low, v, low);
    high = select(v > high, v, high);
  }
  put<whole>(to.sum + c, sum, n);
  put<whole>(to.low + c, low, n);
  put<whole>(to.high + c, high, n);
}

template <class T, int n_rows>
STOPE_INLINE void add_rows(const T* from, std::int64_t stride, std::int64_t n_columns, const RunningExtents& to) {
  std::int64_t c = 0;
  for (; c + kLanes <= n_columns; c += kLanes) add_values<T, n_rows, true>(from, stride, c, kLanes, to);
  if (c < n_columns) add_values<T, n_rows, false>(from, stride, c, n_columns - c, to);
}

template <class T>
void sums(const RowBlock<T>& rows, const RunningExtents& to) {
  std::int64_t r = 0;
  for (; r + kAtOnce <= rows.n_rows; r += kAtOnce) {
    add_rows<T, kAtOnce>(rows.first + r * rows.stride, rows.stride, rows.n_columns, to);
  }
  for (; r < rows.n_rows; ++r) add_rows<T, 1>(rows.first + r * rows.stride, rows.stride, rows.n_columns, to);
}

template <class T, int n_rows, bool whole>
STOPE_INLINE void add_squares(const T* from, std::int64_t stride, std::int64_t c, std::int64_t n,
                              const RunningDeviations& of, double* sums) {
  const Doubles mean = values_at<whole>(of.mean + c, n), half = values_at<whole>(of.half + c, n);
  const Doubles rest = values_at<whole>(of.rest + c, n);
  Doubles sum = values_at<whole>(sums + c, n);
#pragma GCC unroll 4
  for (int i = 0; i < n_rows; ++i) {
    const Doubles d = (values_at<whole>(from + i * stride + c, n) - mean) * half * rest;
    sum += d * d;
  }
  put<whole>(sums + c, sum, n);
}

template <class T, int n_rows>
STOPE_INLINE void add_squared_rows(const T* from, std::int64_t stride, std::int64_t n_columns,
                                   const RunningDeviations& of, double* sums) {
  std::int64_t c = 0;
  for (; c + kLanes <= n_columns; c += kLanes) add_squares<T, n_rows, true>(from, stride, c, kLanes, of, sums);
  if (c < n_columns) add_squares<T, n_rows, false>(from, stride, c, n_columns - c, of, sums);
}

template <class T>
void squares(const RowBlock<T>& rows, const RunningDeviations& of, double* sums) {
  std::int64_t r = 0;
  for (; r + kAtOnce <= rows.n_rows; r += kAtOnce) {
    add_squared_rows<T, kAtOnce>(rows.first + r * rows.stride, rows.stride, rows.n_columns, of, sums);
  }
  for (; r < rows.n_rows; ++r) {
    add_squared_rows<T, 1>(rows.first + r * rows.stride, rows.stride, rows.n_columns, of, sums);
  }
}

template <class T>
constexpr RowKernelsOf<T> kOf = {by_rows<T>, tiles<T>, by_columns<T>, turn<T>, sums<T>, squares<T>};

}  // namespace

const RowKernels kRowKernels = {kOf<float>, kOf<double>};
