// The loops of gram/column_kernels.hpp for one instruction set (base/simd/target_region.hpp). A square of values, one
// register of each of as many columns, is transposed in registers; sums then run down the rows in row order, a column
// or leaf to a lane.

namespace {

#include "base/simd/prelude.inl"
#include "base/simd/fused.inl"

#include "gram/partial_vectors.inl"

STOPE_INLINE Doubles term(Doubles v, Doubles minus, Doubles times, Doubles missing) {
  const Doubles moved = (v - minus) * times;
  return select(moved == moved, moved, missing);
}

// kLanes rows from `row` on, of up to kLanes columns. What lies `ahead` elements behind is prefetched.
template <class T, bool whole>
STOPE_INLINE void rows_at(const T* const* columns, std::int64_t n, std::int64_t row, std::int64_t n_rows,
                          std::int64_t ahead, Doubles (&v)[kLanes]) {
#pragma GCC unroll 8
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (whole) {
      __builtin_prefetch(columns[i] + row + ahead, 0, 2);
      v[i] = doubles_at(columns[i] + row);
    } else {
      v[i] = i < n ? load_some(columns[i] + row, n_rows) : Doubles{};
    }
  }
  transpose(v);
}

template <class T>
void by_rows(const T* const* columns, std::int64_t n, std::int64_t begin, std::int64_t end, const Terms& terms,
             const double* row_factor, double* out, std::int64_t stride) {
  for (std::int64_t c = 0; c < n; c += kLanes, out += kLanes) {
    const std::int64_t width = n - c;
    const Doubles minus = load_some(terms.minus + c, width), times = load_some(terms.times + c, width);
    const Doubles missing = load_some(terms.missing + c, width);
    double* to = out;
    for (std::int64_t row = begin; row < end; row += kLanes, to += kLanes * stride) {
      Doubles v[kLanes];
      const std::int64_t n_rows = end - row;
      if (width >= kLanes && n_rows >= kLanes) {
        rows_at<T, true>(columns + c, width, row, n_rows, end - begin, v);
#pragma GCC unroll 8
        for (int i = 0; i < kLanes; ++i) {
          Doubles moved = term(v[i], minus, times, missing);
          if (row_factor != nullptr) moved *= row_factor[row + i];
          store(to + i * stride, moved);
        }
        continue;
      }
      rows_at<T, false>(columns + c, width, row, n_rows, 0, v);
      for (int i = 0; i < kLanes; ++i) {
        if (i >= n_rows) break;
        Doubles moved = term(v[i], minus, times, missing);
        if (row_factor != nullptr) moved *= row_factor[row + i];
        store_some(to + i * stride, moved, width);
      }
    }
  }
}

template <class T>
void by_columns(const T* const* columns, std::int64_t n, std::int64_t begin, std::int64_t end, const Terms& terms,
                const double* row_factor, double* out, std::int64_t stride) {
  for (std::int64_t c = 0; c < n; ++c, out += stride) {
    const T* const from = columns[c];
    const Doubles minus = all(terms.minus[c]), times = all(terms.times[c]), missing = all(terms.missing[c]);
    for (std::int64_t row = begin; row < end; row += kLanes) {
      const std::int64_t n_rows = end - row;
      Doubles moved = term(load_some(from + row, n_rows), minus, times, missing);
      if (row_factor != nullptr) moved *= load_some(row_factor + row, n_rows);
      store_some(out + row - begin, moved, n_rows);
    }
  }
}

// Sums of kAtOnce vectors of rows stay in registers for all columns.
template <class T>
void add_products(const T* const* columns, std::int64_t n, std::int64_t begin, std::int64_t end, const Terms& terms,
                  const double* x, double* sums) {
  constexpr int kAtOnce = 4;
  std::int64_t row = begin;
  for (; row + kAtOnce * kLanes <= end; row += kAtOnce * kLanes, sums += kAtOnce * kLanes) {
    Doubles sum[kAtOnce];
#pragma GCC unroll 4
    for (int i = 0; i < kAtOnce; ++i) sum[i] = doubles_at(sums + i * kLanes);
    for (std::int64_t c = 0; c < n; ++c) {
      const Doubles minus = all(terms.minus[c]), times = all(terms.times[c]), missing = all(terms.missing[c]);
#pragma GCC unroll 4
      for (int i = 0; i < kAtOnce; ++i) {
        sum[i] = fused(term(doubles_at(columns[c] + row + i * kLanes), minus, times, missing), all(x[c]), sum[i]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kAtOnce; ++i) store(sums + i * kLanes, sum[i]);
  }
  for (; row < end; row += kLanes, sums += kLanes) {
    const std::int64_t n_rows = end - row;
    Doubles sum = load_some(sums, n_rows);
    for (std::int64_t c = 0; c < n; ++c) {
      const Doubles minus = all(terms.minus[c]), times = all(terms.times[c]), missing = all(terms.missing[c]);
      sum = fused(term(load_some(columns[c] + row, n_rows), minus, times, missing), all(x[c]), sum);
    }
    store_some(sums, sum, n_rows);
  }
}

// The leaves [first, first + kLanes), one to a lane. Lanes beyond the last leaf repeat it.
template <class T>
struct LaneLeaves {
  const T* values[kLanes];
  const double* weights[kLanes];
};
template <class T>
STOPE_INLINE LaneLeaves<T> lane_leaves(const Leaves<T>& leaves, int first) {
  LaneLeaves<T> lanes;
  for (int i = 0; i < kLanes; ++i) {
    const int leaf = first + i < leaves.n_leaves ? first + i : leaves.n_leaves - 1;
    lanes.values[i] = leaves.values[leaf];
    lanes.weights[i] = leaves.weights[leaf];
  }
  return lanes;
}

template <class T>
STOPE_INLINE void leaf_rows(const T* const* leaves, std::int64_t row, std::int64_t n_rows, std::int64_t ahead,
                            Doubles (&v)[kLanes]) {
  if (n_rows >= kLanes) {
    rows_at<T, true>(leaves, kLanes, row, n_rows, ahead, v);
  } else {
    rows_at<T, false>(leaves, kLanes, row, n_rows, 0, v);
  }
}

// Takes a row of values; counted are their weights, or ones. A value that does not count is NaN.
struct RunningSums {
  Doubles sum, weight, n_present, low, high;
};
template <bool weighted>
STOPE_INLINE void take_row(Doubles v, Doubles w, RunningSums& to) {
  const Doubles zeros = {};
  if constexpr (weighted) {
    const Doubles counted = select(v == v, w, zeros);
    v = select(counted == zeros, all(__builtin_nan("")), v);
    to.weight += counted;
    to.sum += select(v == v, counted * v, zeros);
  } else {
    to.sum += select(v == v, v, zeros);
  }
  to.n_present += select(v == v, all(1.0), zeros);
  to.low = select(v < to.low, v, to.low);
  to.high = select(v > to.high, v, to.high);
}

template <class T, bool weighted>
STOPE_INLINE void sums_of(const Leaves<T>& leaves, LeafSums& out) {
  for (int first = 0; first < leaves.n_leaves; first += kLanes) {
    const LaneLeaves<T> lanes = lane_leaves(leaves, first);
    RunningSums sums = {{}, {}, {}, all(__builtin_inf()), all(-__builtin_inf())};
    for (std::int64_t row = 0; row < leaves.n_rows; row += kLanes) {
      const std::int64_t n_rows = leaves.n_rows - row;
      Doubles v[kLanes], w[kLanes];
      leaf_rows(lanes.values, row, n_rows, leaves.ahead, v);
      if constexpr (weighted) leaf_rows(lanes.weights, row, n_rows, leaves.ahead, w);
#pragma GCC unroll 8
      for (int i = 0; i < kLanes; ++i) {
        if (i < n_rows) take_row<weighted>(v[i], w[i], sums);
      }
    }
    store(out.sum + first, sums.sum);
    store(out.weight + first, sums.weight);
    store(out.low + first, sums.low);
    store(out.high + first, sums.high);
    store(out.n_present + first, sums.n_present);
  }
}

template <class T>
void sums(const Leaves<T>& leaves, LeafSums& out) {
  if (leaves.weights[0] == nullptr) {
    sums_of<T, false>(leaves, out);
  } else {
    sums_of<T, true>(leaves, out);
  }
}

template <class T, bool weighted>
STOPE_INLINE void squares_of(const Leaves<T>& leaves, const Deviations& deviations, double* out) {
  const Doubles zeros = {};
  for (int first = 0; first < leaves.n_leaves; first += kLanes) {
    const LaneLeaves<T> lanes = lane_leaves(leaves, first);
    const Doubles mean = doubles_at(deviations.mean + first), half = doubles_at(deviations.half + first);
    const Doubles rest = doubles_at(deviations.rest + first);
    Doubles sum = {};
    for (std::int64_t row = 0; row < leaves.n_rows; row += kLanes) {
      const std::int64_t n_rows = leaves.n_rows - row;
      Doubles v[kLanes], w[kLanes];
      leaf_rows(lanes.values, row, n_rows, leaves.ahead, v);
      if constexpr (weighted) leaf_rows(lanes.weights, row, n_rows, leaves.ahead, w);
#pragma GCC unroll 8
      for (int i = 0; i < kLanes; ++i) {
        if (i >= n_rows) continue;
        const Doubles d = (v[i] - mean) * half * rest;
        if constexpr (weighted) {
          const Doubles counted = select(v[i] == v[i], w[i], zeros);
          sum += select(counted == zeros, zeros, counted * (d * d));
        } else {
          sum += select(v[i] == v[i], d * d, zeros);
        }
      }
    }
    store(out + first, sum);
  }
}

template <class T>
void squares(const Leaves<T>& leaves, const Deviations& deviations, double* out) {
  if (leaves.weights[0] == nullptr) {
    squares_of<T, false>(leaves, deviations, out);
  } else {
    squares_of<T, true>(leaves, deviations, out);
  }
}

template <class T>
constexpr ColumnKernelsOf<T> kOf = {by_rows<T>, by_columns<T>, add_products<T>, sums<T>, squares<T>};

}  // namespace

const ColumnKernels kColumnKernels = {kOf<float>, kOf<double>};
