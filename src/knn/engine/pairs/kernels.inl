// Distances across pairs. The sources of this folder compile it once per instruction set
// (base/simd/target_region.hpp). Nothing here may use the standard library.

namespace {

#include "base/simd/prelude.inl"

// Four queries meet as many rows as leave their sums in registers: AVX-512 has 32 of them, the others 16.
constexpr std::int64_t kQueries = 4, kVectors = kDoubleLanes == 8 ? 4 : 2, kRows = kVectors * kDoubleLanes;

STOPE_INLINE Doubles size_of(Doubles v) {
  return __builtin_bit_cast(Doubles, __builtin_bit_cast(Longs, v) & 0x7fffffffffffffff);
}
// IEEE's root: rounded as that of a single number.
STOPE_INLINE Doubles root_of(Doubles v) {
#if defined(STOPE_AVX512)
  // GCC 12 warns of _mm512_sqrt_pd itself, whose unused lanes are undefined.
  return __builtin_bit_cast(Doubles, _mm512_maskz_sqrt_pd(0xff, __builtin_bit_cast(__m512d, v)));
#elif defined(STOPE_AVX2)
  return __builtin_bit_cast(Doubles, _mm256_sqrt_pd(__builtin_bit_cast(__m256d, v)));
#else
  for (int lane = 0; lane < kDoubleLanes; ++lane) v[lane] = __builtin_sqrt(v[lane]);
  return v;
#endif
}

// The terms of PairSum, in the operations of the formulas. No value is missing, and no infinities cancel, since those of
// the queries are finite. So no term needs the formulas' choice for missing values.
struct Squares {
  STOPE_INLINE static Doubles add(Doubles sum, Doubles x, Doubles y) {
    const Doubles difference = x - y;
    return sum + difference * difference;
  }
};
struct Absolutes {
  STOPE_INLINE static Doubles add(Doubles sum, Doubles x, Doubles y) { return sum + size_of(x - y); }
};
struct Maximum {
  STOPE_INLINE static Doubles add(Doubles sum, Doubles x, Doubles y) {
    const Doubles term = size_of(x - y);
    return term > sum ? term : sum;
  }
};
struct Relative {
  STOPE_INLINE static Doubles add(Doubles sum, Doubles x, Doubles y) {
    const Doubles denominator = size_of(x) + size_of(y), term = size_of(x - y) / denominator;
    return sum + (denominator == 0.0 ? Doubles{} : term);
  }
};

void transpose(const double* rows, std::int64_t n, std::int64_t width, double* by_column) {
  constexpr std::int64_t kColumns = 8;  // of a cache line
  for (std::int64_t first = 0; first < width; first += kColumns) {
    const std::int64_t end = first + kColumns < width ? first + kColumns : width;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const double* const from = rows + (row < n ? row : n - 1) * width;
      for (std::int64_t c = first; c < end; ++c) by_column[c * kRows + row] = from[c];
    }
  }
}

// Computes kMany queries against the group.
template <class Sum, std::int64_t kMany>
STOPE_INLINE void compute_queries(const RowGroup& group, const PairQueries& queries, std::int64_t first, bool root) {
  const double* const query = queries.rows + first * group.width;
  Doubles sums[kMany][kVectors] = {};
  for (std::int64_t c = 0; c < group.width; ++c) {
    Doubles rows[kVectors];
    for (std::int64_t v = 0; v < kVectors; ++v) {
      rows[v] = doubles_at(group.by_column + c * kRows + v * kDoubleLanes);
    }
    for (std::int64_t i = 0; i < kMany; ++i) {
      const Doubles value = all(query[i * group.width + c]);
      for (std::int64_t v = 0; v < kVectors; ++v) sums[i][v] = Sum::add(sums[i][v], rows[v], value);
    }
  }
  for (std::int64_t i = 0; i < kMany; ++i) {
    for (std::int64_t v = 0; v < kVectors; ++v) {
      if (root) sums[i][v] = root_of(sums[i][v]);
      if (queries.negated) sums[i][v] = -sums[i][v];
    }
    double* const out = queries.out + (first + i) * queries.ld;
    if (group.n == kRows) {
      for (std::int64_t v = 0; v < kVectors; ++v) store(out + v * kDoubleLanes, sums[i][v]);
    } else {
      __builtin_memcpy(out, sums[i], static_cast<std::size_t>(group.n) * sizeof(double));
    }
  }
}

template <class Sum>
void compute_sums(const RowGroup& group, const PairQueries& queries, bool root) {
  std::int64_t i = 0;
  for (; i + kQueries <= queries.n; i += kQueries) compute_queries<Sum, kQueries>(group, queries, i, root);
  for (; i < queries.n; ++i) compute_queries<Sum, 1>(group, queries, i, root);
}

void compute(const PlainForm& form, const RowGroup& group, const PairQueries& queries) {
  switch (form.sum) {
    case PairSum::squares: return compute_sums<Squares>(group, queries, form.root);
    case PairSum::absolutes: return compute_sums<Absolutes>(group, queries, form.root);
    case PairSum::maximum: return compute_sums<Maximum>(group, queries, form.root);
    case PairSum::relative: return compute_sums<Relative>(group, queries, form.root);
  }
}

}  // namespace

const PairKernels kPairKernels = {kRows, transpose, compute};
