// The sums of gram/shape.hpp in vectors of 2, 4 or 8 doubles. kernels_<level>.cpp compile it, once per instruction set
// (base/simd/target_region.hpp). It uses no standard library (kernels.hpp).

namespace {

#include "base/simd/prelude.inl"
#include "base/simd/fused.inl"

constexpr int kLanes = kDoubleLanes;

// Loads the first n < kLanes elements, then zeros. What follows a row may not be readable.
#if defined(STOPE_AVX512)
STOPE_INLINE Doubles load_first(const double* p, int n) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1 << n) - 1), p);
}
STOPE_INLINE Doubles load_first(const float* p, int n) {
  // gcc 12 says that _mm512_cvtps_pd uses something uninitialised.
  return _mm512_maskz_cvtps_pd(static_cast<__mmask8>(-1), _mm256_maskz_loadu_ps(static_cast<__mmask8>((1 << n) - 1), p));
}
#else
template <class T>
STOPE_INLINE Doubles load_first(const T* p, int n) {
  Doubles v = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    if (lane < n) v[lane] = static_cast<double>(p[lane]);
  }
  return v;
}
#endif

template <class T, bool shifted>
STOPE_INLINE Doubles values(const T* row, const double* shift, std::int64_t column) {
  if constexpr (shifted) return doubles_at(row + column) - doubles_at(shift + column);
  return doubles_at(row + column);
}
template <class T, bool shifted>
STOPE_INLINE Doubles last_values(const T* row, const double* shift, std::int64_t column, std::int64_t end) {
  const Doubles v = load_first(row + column, static_cast<int>(end - column));
  if constexpr (shifted) return v - doubles_at(shift + column);
  return v;
}

// Adds neighbours: 2 x kLanes values become kLanes, in their order.
STOPE_INLINE Doubles add_neighbours(Doubles a, Doubles b) {
#if STOPE_VECTOR_BYTES == 64
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
#elif STOPE_VECTOR_BYTES == 32
  return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
#else
  return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
#endif
}
// Adds lane l and lane l ^ half, half = kLanes / 2, and so on down to one number.
STOPE_INLINE double add_lanes(Doubles v) {
#if STOPE_VECTOR_BYTES == 64
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
#elif STOPE_VECTOR_BYTES == 32
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1);
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2);
#else
  v += __builtin_shufflevector(v, v, 1, 0);
#endif
  return v[0];
}

// Vectors of slots that registers hold at a time. Two add_neighbours leave a quarter of them.
#if defined(STOPE_AVX512)
constexpr int kTogether = 16;
#else
constexpr int kTogether = 8;
#endif
constexpr int kVectors = 128 / kLanes;    // the slots of a leaf
constexpr int kFours = kVectors / 4;      // the sums of four
static_assert(kVectors % kTogether == 0 && kTogether % 4 == 0);

STOPE_INLINE double leaf_of(Doubles (&fours)[kFours]) {
#pragma GCC unroll 16
  for (int half = kFours / 2; half >= 1; half /= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < half; ++i) fours[i] += fours[i + half];
  }
  return add_lanes(fours[0]);
}

// A whole leaf of n neighbouring rows. Memory delivers several rows at once faster than one after the other, and x is
// read once for all. What lies `ahead` bytes further is prefetched line by line, between the products: as a burst before
// the leaf, prefetches would wait for each other.
template <class T, bool shifted, int n, bool prefetches>
STOPE_INLINE void whole_leaves(const T* first, std::int64_t stride, const double* shift, const double* x, double* sums,
                               std::int64_t sums_stride, std::int64_t ahead) {
  constexpr int kOfRow = kTogether / n;
  constexpr int kOfLine = 64 / static_cast<int>(sizeof(T)) / kLanes;  // vectors that a cache line fills
  static_assert(kOfRow % 4 == 0 && kVectors % kOfRow == 0);
  Doubles fours[n][kFours];
#pragma GCC unroll 1
  for (int part = 0; part < kVectors; part += kOfRow) {
    Doubles slots[n][kOfRow];
#pragma GCC unroll 4
    for (int round = 0; round < kLeafRounds; ++round) {
#pragma GCC unroll 16
      for (int i = 0; i < kOfRow; ++i) {
        const std::int64_t column = round * kSlots + (part + i) * kLanes;
        const Doubles right = doubles_at(x + column);
#pragma GCC unroll 4
        for (int r = 0; r < n; ++r) {
          if (prefetches && i % kOfLine == 0) {
            __builtin_prefetch(reinterpret_cast<const char*>(first + r * stride + column) + ahead, 0, 2);
          }
          const Doubles value = values<T, shifted>(first + r * stride, shift, column);
          slots[r][i] = round == 0 ? value * right : fused(value, right, slots[r][i]);
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < n; ++r) {
#pragma GCC unroll 4
      for (int i = 0; i < kOfRow; i += 4) {
        fours[r][(part + i) / 4] = add_neighbours(add_neighbours(slots[r][i], slots[r][i + 1]),
                                                  add_neighbours(slots[r][i + 2], slots[r][i + 3]));
      }
    }
  }
  for (int r = 0; r < n; ++r) sums[r * sums_stride] = leaf_of(fours[r]);
}

// A leaf of n <= kSlots columns: a slot has one product, or none, which is +0.0.
template <class T, bool shifted>
STOPE_INLINE double narrow_leaf(const T* row, const double* shift, const double* x, std::int64_t n) {
  Doubles fours[kFours] = {};
  std::int64_t column = 0;
  int at = 0;
  for (; column + 4 * kLanes <= n; column += 4 * kLanes, ++at) {
    Doubles slots[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const std::int64_t c = column + i * kLanes;
      slots[i] = values<T, shifted>(row, shift, c) * doubles_at(x + c);
    }
    fours[at] = add_neighbours(add_neighbours(slots[0], slots[1]), add_neighbours(slots[2], slots[3]));
  }
  if (column < n) {
    Doubles slots[4] = {};
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const std::int64_t c = column + i * kLanes;
      if (c + kLanes <= n) {
        slots[i] = values<T, shifted>(row, shift, c) * doubles_at(x + c);
      } else if (c < n) {
        slots[i] = last_values<T, shifted>(row, shift, c, n) * doubles_at(x + c);
      }
    }
    fours[at] = add_neighbours(add_neighbours(slots[0], slots[1]), add_neighbours(slots[2], slots[3]));
  }
  return leaf_of(fours);
}

// A leaf of n < kLeafColumns columns. Slots without any are +0.0.
template <class T, bool shifted>
STOPE_INLINE double part_of_leaf(const T* row, const double* shift, const double* x, std::int64_t n) {
  Doubles slots[kVectors];
  // Rounded up to whole sums of four.
  const std::int64_t used = n < kSlots ? (n + 4 * kLanes - 1) / (4 * kLanes) * 4 : kVectors;
  for (std::int64_t i = 0; i < used; ++i) {
    std::int64_t column = i * kLanes;
    Doubles sum = {};
    if (column + kLanes <= n) {
      sum = values<T, shifted>(row, shift, column) * doubles_at(x + column);
      for (column += kSlots; column + kLanes <= n; column += kSlots) {
        sum = fused(values<T, shifted>(row, shift, column), doubles_at(x + column), sum);
      }
    }
    if (column < n) sum = fused(last_values<T, shifted>(row, shift, column, n), doubles_at(x + column), sum);
    slots[i] = sum;
  }
  Doubles fours[kFours] = {};
  for (std::int64_t i = 0; i < used; i += 4) {
    fours[i / 4] = add_neighbours(add_neighbours(slots[i], slots[i + 1]), add_neighbours(slots[i + 2], slots[i + 3]));
  }
  return leaf_of(fours);
}

template <bool shifted>
STOPE_INLINE const double* shift_at(const Slab& slab, std::int64_t column) {
  if constexpr (shifted) return slab.shift + column;
  return nullptr;
}

// Computes sums[row * n_leaves + leaf] of n neighbouring rows.
template <class T, bool shifted, int n, bool prefetches>
STOPE_INLINE void dot_together(const T* first, const Slab& slab, const double* x, double* sums, std::int64_t n_leaves) {
  std::int64_t column = 0, leaf = 0;
  for (; column + kLeafColumns <= slab.n_columns; column += kLeafColumns, ++leaf) {
    whole_leaves<T, shifted, n, prefetches>(first + column, slab.row_stride, shift_at<shifted>(slab, column), x + column,
                                            sums + leaf, n_leaves, slab.ahead);
  }
  const std::int64_t left = slab.n_columns - column;
  for (int r = 0; r < n && left > 0; ++r) {
    const T* const row = first + r * slab.row_stride + column;
    const double* const shift = shift_at<shifted>(slab, column);
    sums[r * n_leaves + leaf] = left <= kSlots ? narrow_leaf<T, shifted>(row, shift, x + column, left)
                                               : part_of_leaf<T, shifted>(row, shift, x + column, left);
  }
}

template <class T, bool shifted>
STOPE_INLINE void dot_rows(const Slab& slab, const double* x, double* sums) {
  constexpr int kAtOnce = kTogether / 4;
  const std::int64_t n_leaves = (slab.n_columns + kLeafColumns - 1) / kLeafColumns;
  const T* row = static_cast<const T*>(slab.values);
  std::int64_t r = 0;
  for (; r + kAtOnce <= slab.n_rows; r += kAtOnce, row += kAtOnce * slab.row_stride, sums += kAtOnce * n_leaves) {
    if (r < slab.dot_ahead_rows) {
      dot_together<T, shifted, kAtOnce, true>(row, slab, x, sums, n_leaves);
    } else {
      dot_together<T, shifted, kAtOnce, false>(row, slab, x, sums, n_leaves);
    }
  }
  for (; r < slab.n_rows; ++r, row += slab.row_stride, sums += n_leaves) {
    dot_together<T, shifted, 1, false>(row, slab, x, sums, n_leaves);
  }
}

// Adds n rows at once: z goes through the registers once for all of them. The rows that lie `ahead` bytes further are
// prefetched meanwhile, so that arithmetic hides their reading.
template <class T, bool shifted, bool fresh, int n>
STOPE_INLINE void add_together(const T* first, const Slab& slab, std::int64_t ahead, const double* y, double* z) {
  const std::int64_t stride = slab.row_stride;
  Doubles weights[n];
  for (int r = 0; r < n; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) weights[r][lane] = y[r];
  }
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));  // elements of a cache line
  std::int64_t column = 0;
  for (; column + kLanes <= slab.n_columns; column += kLanes) {
    Doubles sum = fresh ? Doubles{} : doubles_at(z + column);
    if (ahead != 0 && column % kLine == 0) {
#pragma GCC unroll 8
      for (int r = 0; r < n; ++r) __builtin_prefetch(reinterpret_cast<const char*>(first + r * stride + column) + ahead, 0, 2);
    }
#pragma GCC unroll 8
    for (int r = 0; r < n; ++r) sum = fused(weights[r], values<T, shifted>(first + r * stride, slab.shift, column), sum);
    store(z + column, sum);
  }
  if (column < slab.n_columns) {
    Doubles sum = fresh ? Doubles{} : doubles_at(z + column);
    for (int r = 0; r < n; ++r) {
      sum = fused(weights[r], last_values<T, shifted>(first + r * stride, slab.shift, column, slab.n_columns), sum);
    }
    store(z + column, sum);
  }
}

template <class T, bool shifted, bool fresh, int n>
STOPE_INLINE void add_from(const Slab& slab, std::int64_t row, const double* y, double* z) {
  const T* const first = static_cast<const T*>(slab.values) + row * slab.row_stride;
  add_together<T, shifted, fresh, n>(first, slab, row < slab.add_ahead_from ? 0 : slab.ahead, y + row, z);
}

// Adds the first rows to zeros, and returns how many they are.
template <class T, bool shifted>
STOPE_INLINE std::int64_t add_first(const Slab& slab, const double* y, double* z) {
  constexpr int kAtOnce = 4;
  if (slab.n_rows < kAtOnce) {
    add_from<T, shifted, true, 1>(slab, 0, y, z);
    return 1;
  }
  add_from<T, shifted, true, kAtOnce>(slab, 0, y, z);
  return kAtOnce;
}

template <class T, bool shifted>
STOPE_INLINE void add_rows(const Slab& slab, const double* y, double* z) {
  constexpr int kAtOnce = 4;
  std::int64_t r = slab.fresh ? add_first<T, shifted>(slab, y, z) : 0;
  for (; r + kAtOnce <= slab.n_rows; r += kAtOnce) add_from<T, shifted, false, kAtOnce>(slab, r, y, z);
  for (; r < slab.n_rows; ++r) add_from<T, shifted, false, 1>(slab, r, y, z);
}

template <class T>
void dot(const Slab& slab, const double* x, double* sums) {
  if (slab.shift == nullptr) {
    dot_rows<T, false>(slab, x, sums);
  } else {
    dot_rows<T, true>(slab, x, sums);
  }
}

template <class T>
void add(const Slab& slab, const double* y, double* z) {
  if (slab.shift == nullptr) {
    add_rows<T, false>(slab, y, z);
  } else {
    add_rows<T, true>(slab, y, z);
  }
}

void add_sums(double* to, const double* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += kLanes) store(to + i, doubles_at(to + i) + doubles_at(from + i));
}

}  // namespace

const Kernels kKernels = {{dot<float>, add<float>}, {dot<double>, add<double>}, add_sums};
