// Compares blocks of floats, and the boxes around blocks, with some queries. kernels.inl includes this file once per
// instruction set.

// Vectors of training rows x queries held in registers: their product is the number of sums in flight. Sums of
// differences need a register or two more per term than inner products do.
#if defined(STOPE_AVX512)
constexpr int kVectors = 4, kGroup = 4, kDotGroup = 6;
#elif defined(STOPE_AVX2)
constexpr int kVectors = 2, kGroup = 4, kDotGroup = 6;
#else
constexpr int kVectors = 2, kGroup = 2, kDotGroup = 4;
#endif
constexpr int kMostGroup = 6;
// A query that has a block for itself takes as many rows at once as there are registers: one pass then reads the block
// from end to end, as fast as memory gives it.
constexpr int kLoneVectors = kFloatLanes * 8 >= kScanBlockRows ? kScanBlockRows / kFloatLanes : 8;
constexpr std::uint64_t row_bits(int n) {
  return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n & 63)) - 1;
}

STOPE_INLINE Floats absolute_of(Floats v) {
  return __builtin_bit_cast(Floats, __builtin_bit_cast(Ints, v) & 0x7fffffff);
}
// Returns max(v, 0). A NaN (a missing value) becomes 0, because the comparison is false.
STOPE_INLINE Floats positive(Floats v) {
  const Floats zero = {};
  return v > zero ? v : zero;
}
STOPE_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
#if defined(STOPE_AVX512)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(STOPE_AVX2)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}
// Returns one bit per lane: set if a is not greater, so that NaN counts as a hit.
STOPE_INLINE std::uint64_t not_greater(Floats a, Floats b) {
#if defined(STOPE_AVX512)
  return _mm512_cmp_ps_mask(a, b, _CMP_NGT_UQ);
#elif defined(STOPE_AVX2)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NGT_UQ)));
#else
  const Ints greater = a > b;
  std::uint64_t bits = 0;
  for (int lane = 0; lane < kFloatLanes; ++lane) bits |= std::uint64_t{greater[lane] == 0} << lane;
  return bits;
#endif
}

template <Term term, Divisor divisor, Missing missing>
struct Sum {
  Floats sum = {};
  Floats by = {};

  STOPE_INLINE void add_numeric(Floats t, Floats q, float mismatch, float weight) {
    const Floats difference = t - q;
    if constexpr (term == Term::square && missing == Missing::mismatch) {
      const Floats squared = difference * difference;
      sum += squared == squared ? squared : all(mismatch);
    } else if constexpr (term == Term::square) {
      sum += positive(difference * difference);
    } else if constexpr (term == Term::absolute) {
      sum += positive(absolute_of(difference));
    } else if constexpr (term == Term::maximum) {
      const Floats size = absolute_of(difference);
      sum = size > sum ? size : sum;
    } else {
      sum += all(weight) * positive(absolute_of(difference) / (absolute_of(t) + absolute_of(q)));
    }
    if constexpr (divisor == Divisor::present_weight) by += difference == difference ? all(weight) : Floats{};
    if constexpr (divisor == Divisor::total) by += positive(absolute_of(t) + absolute_of(q));
  }

  STOPE_INLINE void add_equality(Floats t, Floats q, float mismatch, float weight) {
    if constexpr (missing == Missing::mismatch) {
      sum += t == q ? Floats{} : all(mismatch);
    } else {
      const Ints different = (t < q) | (t > q);
      if constexpr (term == Term::maximum) {
        const Floats size = different ? all(mismatch) : Floats{};
        sum = size > sum ? size : sum;
      } else {
        sum += different ? all(mismatch) : Floats{};
      }
      if constexpr (divisor == Divisor::present_weight) by += (different | (t == q)) ? all(weight) : Floats{};
    }
  }

  STOPE_INLINE std::uint64_t kept(const Cut& cut) const {
    if constexpr (divisor == Divisor::none) return not_greater(sum, all(cut.beta));
    return not_greater(sum, all(cut.alpha) * by + cut.beta);
  }
  STOPE_INLINE Floats score() const {
    if constexpr (divisor == Divisor::none) return sum;
    return by > Floats{} ? sum / by : Floats{};
  }
};

// Compares the rows of one block with the queries `which[0 .. n)`. The group is always computed whole, so that it stays
// in registers. `which` repeats a query where there are fewer; the repetitions are not reported.
template <class S, int n_queries = kGroup, int n_vectors = kVectors>
struct Differences {
  static constexpr int kQueries = n_queries, kRows = n_vectors * kFloatLanes;
  using Lone = Differences<S, 1, kLoneVectors>;

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    const std::int64_t n_columns = scan.n_numeric + scan.n_equality;
    const std::int64_t number = scan.visit[visited];
    const float* block = scan.blocks + number * n_columns * kScanBlockRows;
    const float* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.queries + which[i] * n_columns;
    for (int first = 0; first < kScanBlockRows; first += kRows) {
      S sums[kQueries][n_vectors];
      std::int64_t c = 0;
      for (; c < scan.n_numeric; ++c) {
        const float* column = block + c * kScanBlockRows + first;
        for (int i = 0; i < kQueries; ++i) {
          const Floats q = all(queries[i][c]);
          for (int v = 0; v < n_vectors; ++v) {
            sums[i][v].add_numeric(load_aligned(column + v * kFloatLanes), q, scan.mismatch[c], scan.weight[c]);
          }
        }
      }
      for (; c < n_columns; ++c) {
        const float* column = block + c * kScanBlockRows + first;
        for (int i = 0; i < kQueries; ++i) {
          const Floats q = all(queries[i][c]);
          for (int v = 0; v < n_vectors; ++v) {
            sums[i][v].add_equality(load_aligned(column + v * kFloatLanes), q, scan.mismatch[c], scan.weight[c]);
          }
        }
      }
      const std::uint64_t always = scan.always[number] >> first & row_bits(kRows);
      for (int i = 0; i < kQueries; ++i) {
        std::uint64_t kept = 0;
        for (int v = 0; v < n_vectors; ++v) kept |= sums[i][v].kept(scan.cuts[which[i]]) << (v * kFloatLanes);
        if ((kept | always) == 0 || i >= n) continue;
        alignas(64) float scores[kRows];
        for (int v = 0; v < n_vectors; ++v) store_aligned(scores + v * kFloatLanes, sums[i][v].score());
        emit(scan, which[i], visited * kScanBlockRows + first, kept, always, scores);
      }
    }
  }
};

// Squares by inner products: s = <q,t> - |t|^2 / 2 grows as |q-t|^2 = |q|^2 - 2 s falls, and costs one instruction per
// term. It takes only images without missing values.
template <int n_queries = kDotGroup, int n_vectors = kVectors>
struct Products {
  static constexpr int kQueries = n_queries, kRows = n_vectors * kFloatLanes;
  using Lone = Products<1, kLoneVectors>;

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    const std::int64_t number = scan.visit[visited];
    const float* block = scan.blocks + number * scan.n_numeric * kScanBlockRows;
    const float* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.queries + which[i] * scan.n_numeric;
    for (int first = 0; first < kScanBlockRows; first += kRows) {
      Floats sums[kQueries][n_vectors];
      for (int v = 0; v < n_vectors; ++v) {
        const Floats start = load_aligned(scan.starts + number * kScanBlockRows + first + v * kFloatLanes);
        for (int i = 0; i < kQueries; ++i) sums[i][v] = start;
      }
      for (std::int64_t c = 0; c < scan.n_numeric; ++c) {
        Floats t[n_vectors];
        for (int v = 0; v < n_vectors; ++v) t[v] = load_aligned(block + c * kScanBlockRows + first + v * kFloatLanes);
        for (int i = 0; i < kQueries; ++i) {
          const Floats q = all(queries[i][c]);
          for (int v = 0; v < n_vectors; ++v) sums[i][v] = multiply_add(t[v], q, sums[i][v]);
        }
      }
      const std::uint64_t always = scan.always[number] >> first & row_bits(kRows);
      for (int i = 0; i < kQueries; ++i) {
        const Cut& cut = scan.cuts[which[i]];
        std::uint64_t kept = 0;
        for (int v = 0; v < n_vectors; ++v) kept |= not_greater(all(cut.least), sums[i][v]) << (v * kFloatLanes);
        if ((kept | always) == 0 || i >= n) continue;
        alignas(64) float scores[kRows];
        for (int v = 0; v < n_vectors; ++v) store_aligned(scores + v * kFloatLanes, cut.norm - 2.0F * sums[i][v]);
        emit(scan, which[i], visited * kScanBlockRows + first, kept, always, scores);
      }
    }
  }
};

// Adds to a sum over boxes the distance between two intervals of a column. A missing value on either side adds nothing.
template <Term term>
STOPE_INLINE Floats add_gap(Floats sum, Floats below, Floats above, bool numeric, float mismatch) {
  Floats gap = positive(below > above ? below : above);
  if (!numeric) gap = gap > Floats{} ? all(mismatch) : Floats{};
  if constexpr (term == Term::maximum) return gap > sum ? gap : sum;
  if (term == Term::square && numeric) return multiply_add(gap, gap, sum);
  return sum + gap;
}

// Returns one bit per query, set if the box around the block does not exceed the query's cut.
template <Term term>
STOPE_INLINE std::uint64_t inside_box(const Scan& scan, std::int64_t number) {
  const std::int64_t n_columns = scan.n_numeric + scan.n_equality;
  const std::int64_t at = number / kBoxFan * n_columns * kBoxFan + number % kBoxFan;
  const float* low = scan.low + at;
  const float* high = scan.high + at;
  std::uint64_t kept = 0;
  for (int first = 0; first < kScanTileQueries; first += kFloatLanes) {
    if (first >= scan.n_queries) break;
    Floats sum = {};
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const Floats q = load_aligned(scan.by_column + c * kScanTileQueries + first);
      sum = add_gap<term>(sum, all(low[c * kBoxFan]) - q, q - all(high[c * kBoxFan]), c < scan.n_numeric,
                          scan.mismatch[c]);
    }
    kept |= not_greater(sum, load_aligned(scan.box_cuts + first)) << first;
  }
  return kept;
}

template <Term term>
void compare_boxes(const BoxScan& scan) {
  const std::int64_t n_columns = scan.n_numeric + scan.n_equality;
  for (int first = 0; first < kBoxFan; first += kFloatLanes) {
    Floats sum = {};
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const Floats below = load_aligned(scan.low + c * kBoxFan + first) - all(scan.to[c]);
      const Floats above = all(scan.from[c]) - load_aligned(scan.high + c * kBoxFan + first);
      sum = add_gap<term>(sum, below, above, c < scan.n_numeric, scan.mismatch[c]);
    }
    store_aligned(scan.sums + first, sum);
  }
}

std::uint32_t boxes_within(const float* sums, float reach) {
  std::uint64_t within = 0;
  for (int first = 0; first < kBoxFan; first += kFloatLanes) {
    within |= not_greater(load_aligned(sums + first), all(reach)) << first;
  }
  return static_cast<std::uint32_t>(within);
}
