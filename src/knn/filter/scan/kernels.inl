// The additive scan, compiled once per instruction set by scan_<level>.cpp, which defines STOPE_LANES (floats a vector)
// and, for their intrinsics, STOPE_AVX2 or STOPE_AVX512. No standard library in here (scan.hpp).

namespace {

typedef float Lanes __attribute__((vector_size(STOPE_LANES * 4), may_alias));
typedef std::int32_t Ints __attribute__((vector_size(STOPE_LANES * 4)));
#define STOPE_INLINE __attribute__((always_inline)) inline

// Vectors of training rows by queries held in registers: their product is the number of sums in flight. Sums of
// differences keep a register or two more for each term than inner products do.
#if defined(STOPE_AVX512)
constexpr int kVectors = 4, kGroup = 4, kDotGroup = 6;
#elif defined(STOPE_AVX2)
constexpr int kVectors = 2, kGroup = 4, kDotGroup = 6;
#else
constexpr int kVectors = 2, kGroup = 2, kDotGroup = 4;
#endif
constexpr int kMostGroup = 6;
constexpr int kRows = kVectors * STOPE_LANES;
constexpr std::uint64_t kRowBits = kRows == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (kRows & 63)) - 1;

STOPE_INLINE Lanes load(const float* p) {
  return *reinterpret_cast<const Lanes*>(p);
}
STOPE_INLINE Lanes all(float value) {
#if defined(STOPE_AVX512)
  return _mm512_set1_ps(value);
#elif defined(STOPE_AVX2)
  return _mm256_set1_ps(value);
#else
  return Lanes{value, value, value, value};
#endif
}
STOPE_INLINE Lanes absolute_of(Lanes v) {
  return __builtin_bit_cast(Lanes, __builtin_bit_cast(Ints, v) & 0x7fffffff);
}
// max(v, 0); a NaN (a missing value) becomes 0, as the comparison is false.
STOPE_INLINE Lanes positive(Lanes v) {
  const Lanes zero = {};
  return v > zero ? v : zero;
}
STOPE_INLINE Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
#if defined(STOPE_AVX512)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(STOPE_AVX2)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}
// One bit a lane: not greater (so that NaN counts as a hit).
STOPE_INLINE std::uint64_t not_greater(Lanes a, Lanes b) {
#if defined(STOPE_AVX512)
  return _mm512_cmp_ps_mask(a, b, _CMP_NGT_UQ);
#elif defined(STOPE_AVX2)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NGT_UQ)));
#else
  const Ints greater = a > b;
  std::uint64_t bits = 0;
  for (int lane = 0; lane < STOPE_LANES; ++lane) bits |= std::uint64_t{greater[lane] == 0} << lane;
  return bits;
#endif
}

template <Term term, Divisor divisor, Missing missing>
struct Sum {
  Lanes sum = {};
  Lanes by = {};

  STOPE_INLINE void add_numeric(Lanes t, Lanes q, float mismatch, float weight) {
    const Lanes difference = t - q;
    if constexpr (term == Term::square && missing == Missing::mismatch) {
      const Lanes squared = difference * difference;
      sum += squared == squared ? squared : all(mismatch);
    } else if constexpr (term == Term::square) {
      sum += positive(difference * difference);
    } else if constexpr (term == Term::absolute) {
      sum += positive(absolute_of(difference));
    } else if constexpr (term == Term::maximum) {
      const Lanes size = absolute_of(difference);
      sum = size > sum ? size : sum;
    } else {
      sum += all(weight) * positive(absolute_of(difference) / (absolute_of(t) + absolute_of(q)));
    }
    if constexpr (divisor == Divisor::present_weight) by += difference == difference ? all(weight) : Lanes{};
    if constexpr (divisor == Divisor::total) by += positive(absolute_of(t) + absolute_of(q));
  }

  STOPE_INLINE void add_equality(Lanes t, Lanes q, float mismatch, float weight) {
    if constexpr (missing == Missing::mismatch) {
      sum += t == q ? Lanes{} : all(mismatch);
    } else {
      const Ints different = (t < q) | (t > q);
      if constexpr (term == Term::maximum) {
        const Lanes size = different ? all(mismatch) : Lanes{};
        sum = size > sum ? size : sum;
      } else {
        sum += different ? all(mismatch) : Lanes{};
      }
      if constexpr (divisor == Divisor::present_weight) by += (different | (t == q)) ? all(weight) : Lanes{};
    }
  }

  STOPE_INLINE std::uint64_t kept(const Cut& cut) const {
    if constexpr (divisor == Divisor::none) return not_greater(sum, all(cut.beta));
    return not_greater(sum, all(cut.alpha) * by + cut.beta);
  }
  STOPE_INLINE Lanes score() const {
    if constexpr (divisor == Divisor::none) return sum;
    return by > Lanes{} ? sum / by : Lanes{};
  }
};

STOPE_INLINE void emit(const Scan& scan, std::int64_t query, std::int64_t position, std::uint64_t kept, std::uint64_t always,
                       const float* scores) {
  Hit* hits = scan.hits + query * scan.capacity;
  std::int32_t n = scan.n_hits[query];
  for (std::uint64_t rest = kept | always; rest != 0; rest &= rest - 1) {
    const int row = __builtin_ctzll(rest);
    const bool listed = (always >> row & 1) != 0;
    hits[n++] = {listed ? -__builtin_inff() : scores[row], static_cast<std::int32_t>(position + row)};
  }
  scan.n_hits[query] = n;
}

// The rows of one block against the queries `which[0 .. n)`. The group is always computed whole, so that it stays in
// registers: `which` repeats a query where there are fewer, and those are not reported.
template <class S>
struct Differences {
  static constexpr int kQueries = kGroup;

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    const std::int64_t n_columns = scan.n_numeric + scan.n_equality;
    const std::int64_t number = scan.visit[visited];
    const float* block = scan.blocks + number * n_columns * kScanBlockRows;
    const float* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.queries + which[i] * n_columns;
    for (int first = 0; first < kScanBlockRows; first += kRows) {
      S sums[kQueries][kVectors];
      std::int64_t c = 0;
      for (; c < scan.n_numeric; ++c) {
        const float* column = block + c * kScanBlockRows + first;
        for (int i = 0; i < kQueries; ++i) {
          const Lanes q = all(queries[i][c]);
          for (int v = 0; v < kVectors; ++v) {
            sums[i][v].add_numeric(load(column + v * STOPE_LANES), q, scan.mismatch[c], scan.weight[c]);
          }
        }
      }
      for (; c < n_columns; ++c) {
        const float* column = block + c * kScanBlockRows + first;
        for (int i = 0; i < kQueries; ++i) {
          const Lanes q = all(queries[i][c]);
          for (int v = 0; v < kVectors; ++v) {
            sums[i][v].add_equality(load(column + v * STOPE_LANES), q, scan.mismatch[c], scan.weight[c]);
          }
        }
      }
      const std::uint64_t always = scan.always[number] >> first & kRowBits;
      for (int i = 0; i < kQueries; ++i) {
        std::uint64_t kept = 0;
        for (int v = 0; v < kVectors; ++v) kept |= sums[i][v].kept(scan.cuts[which[i]]) << (v * STOPE_LANES);
        if ((kept | always) == 0 || i >= n) continue;
        alignas(64) float scores[kRows];
        for (int v = 0; v < kVectors; ++v) *reinterpret_cast<Lanes*>(scores + v * STOPE_LANES) = sums[i][v].score();
        emit(scan, which[i], visited * kScanBlockRows + first, kept, always, scores);
      }
    }
  }
};

// Squares by inner products: s = <q,t> - |t|^2 / 2 grows as |q-t|^2 = |q|^2 - 2 s falls, and costs one instruction a
// term. Images without missing values only.
struct Products {
  static constexpr int kQueries = kDotGroup;

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    const std::int64_t number = scan.visit[visited];
    const float* block = scan.blocks + number * scan.n_numeric * kScanBlockRows;
    const float* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.queries + which[i] * scan.n_numeric;
    for (int first = 0; first < kScanBlockRows; first += kRows) {
      Lanes sums[kQueries][kVectors];
      for (int v = 0; v < kVectors; ++v) {
        const Lanes start = load(scan.starts + number * kScanBlockRows + first + v * STOPE_LANES);
        for (int i = 0; i < kQueries; ++i) sums[i][v] = start;
      }
      for (std::int64_t c = 0; c < scan.n_numeric; ++c) {
        Lanes t[kVectors];
        for (int v = 0; v < kVectors; ++v) t[v] = load(block + c * kScanBlockRows + first + v * STOPE_LANES);
        for (int i = 0; i < kQueries; ++i) {
          const Lanes q = all(queries[i][c]);
          for (int v = 0; v < kVectors; ++v) sums[i][v] = multiply_add(t[v], q, sums[i][v]);
        }
      }
      const std::uint64_t always = scan.always[number] >> first & kRowBits;
      for (int i = 0; i < kQueries; ++i) {
        const Cut& cut = scan.cuts[which[i]];
        std::uint64_t kept = 0;
        for (int v = 0; v < kVectors; ++v) kept |= not_greater(all(cut.least), sums[i][v]) << (v * STOPE_LANES);
        if ((kept | always) == 0 || i >= n) continue;
        alignas(64) float scores[kRows];
        for (int v = 0; v < kVectors; ++v) {
          *reinterpret_cast<Lanes*>(scores + v * STOPE_LANES) = cut.norm - 2.0F * sums[i][v];
        }
        emit(scan, which[i], visited * kScanBlockRows + first, kept, always, scores);
      }
    }
  }
};

#if defined(STOPE_VNNI)
// The same in bytes: 4 terms an instruction a lane, and exact.
struct ByteProducts {
  static constexpr int kQueries = 6;

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    constexpr int kParts = 4;
    const std::int64_t number = scan.visit[visited];
    const std::uint8_t* block = scan.bytes + number * scan.n_groups * 4 * kScanBlockRows;
    const std::uint8_t* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.query_bytes + which[i] * scan.n_groups * 4;
    __m512i sums[kQueries][kParts];
    for (int v = 0; v < kParts; ++v) {
      const __m512i start = _mm512_loadu_si512(scan.byte_starts + number * kScanBlockRows + v * 16);
      for (int i = 0; i < kQueries; ++i) sums[i][v] = start;
    }
    for (std::int64_t c = 0; c < scan.n_groups; ++c) {
      __m512i t[kParts];
      for (int v = 0; v < kParts; ++v) t[v] = _mm512_loadu_si512(block + (c * kScanBlockRows + v * 16) * 4);
      for (int i = 0; i < kQueries; ++i) {
        std::int32_t quad;
        __builtin_memcpy(&quad, queries[i] + c * 4, 4);
        const __m512i q = _mm512_set1_epi32(quad);
        for (int v = 0; v < kParts; ++v) sums[i][v] = _mm512_dpbusd_epi32(sums[i][v], t[v], q);
      }
    }
    const std::uint64_t always = scan.always[number];
    for (int i = 0; i < kQueries; ++i) {
      const Cut& cut = scan.cuts[which[i]];
      const __m512i least = _mm512_set1_epi32(cut.least_bytes);
      std::uint64_t kept = 0;
      for (int v = 0; v < kParts; ++v) {
        kept |= static_cast<std::uint64_t>(_mm512_cmpge_epi32_mask(sums[i][v], least)) << (v * 16);
      }
      if ((kept | always) == 0 || i >= n) continue;
      alignas(64) float scores[kScanBlockRows];
      for (int v = 0; v < kParts; ++v) {
        _mm512_store_ps(scores + v * 16, cut.norm - 2.0F * _mm512_maskz_cvtepi32_ps(0xffff, sums[i][v]));
      }
      emit(scan, which[i], visited * kScanBlockRows, kept, always, scores);
    }
  }
};
#endif

#if defined(STOPE_AVX512) || defined(STOPE_AVX2)
// Sums of absolute differences, and of mismatches, in bytes: 8 columns of a row a 64-bit lane.
#if defined(STOPE_AVX512)
typedef __m512i Bytes;
STOPE_INLINE Bytes load_bytes(const std::uint8_t* p) {
  return _mm512_loadu_si512(p);
}
STOPE_INLINE Bytes add_absolute(Bytes sum, Bytes a, Bytes b) {
  return _mm512_add_epi64(sum, _mm512_sad_epu8(a, b));
}
STOPE_INLINE Bytes add_where(Bytes sum, __mmask64 where, Bytes what) {
  return add_absolute(sum, _mm512_maskz_mov_epi8(where, what), _mm512_setzero_si512());
}
STOPE_INLINE Bytes add_mismatch(Bytes sum, Bytes a, Bytes b, Bytes mismatch) {
  return add_where(sum, _mm512_cmpneq_epu8_mask(a, b), mismatch);
}
STOPE_INLINE Bytes all_bytes(std::int64_t eight) {
  return _mm512_set1_epi64(eight);
}
STOPE_INLINE std::uint64_t at_most(Bytes sum, std::int64_t most) {
  return _mm512_cmple_epi64_mask(sum, _mm512_set1_epi64(most));
}
#else
typedef __m256i Bytes;
STOPE_INLINE Bytes load_bytes(const std::uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p));
}
STOPE_INLINE Bytes add_absolute(Bytes sum, Bytes a, Bytes b) {
  return _mm256_add_epi64(sum, _mm256_sad_epu8(a, b));
}
STOPE_INLINE Bytes add_mismatch(Bytes sum, Bytes a, Bytes b, Bytes mismatch) {
  return add_absolute(sum, _mm256_andnot_si256(_mm256_cmpeq_epi8(a, b), mismatch), _mm256_setzero_si256());
}
STOPE_INLINE Bytes all_bytes(std::int64_t eight) {
  return _mm256_set1_epi64x(eight);
}
STOPE_INLINE std::uint64_t at_most(Bytes sum, std::int64_t most) {
  const __m256i above = _mm256_cmpgt_epi64(sum, _mm256_set1_epi64x(most));
  return ~static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(above))) & 15;
}
#endif
constexpr int kByteLanes = sizeof(Bytes) / 8;

// Eight bytes of a query or of the columns' constants.
STOPE_INLINE Bytes all_bytes(const std::uint8_t* p) {
  std::int64_t eight;
  __builtin_memcpy(&eight, p, 8);
  return all_bytes(eight);
}

constexpr std::uint64_t low_bits(int count) {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (count & 63)) - 1;
}

struct ByteDifferences {
#if defined(STOPE_AVX512)
  static constexpr int kQueries = 3, kParts = 8;
#else
  static constexpr int kQueries = 3, kParts = 4;
#endif

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    constexpr int kCount = kParts * kByteLanes;
    const std::int64_t number = scan.visit[visited];
    const std::uint8_t* block = scan.bytes + number * scan.n_groups * 8 * kScanBlockRows;
    const std::uint8_t* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.query_bytes + which[i] * scan.n_groups * 8;
    for (int first = 0; first < kScanBlockRows; first += kCount) {
      Bytes sums[kQueries][kParts] = {};
      std::int64_t c = 0;
      for (; c < scan.n_numeric_groups; ++c) {
        Bytes t[kParts];
        for (int v = 0; v < kParts; ++v) t[v] = load_bytes(block + (c * kScanBlockRows + first + v * kByteLanes) * 8);
        for (int i = 0; i < kQueries; ++i) {
          const Bytes q = all_bytes(queries[i] + c * 8);
          for (int v = 0; v < kParts; ++v) sums[i][v] = add_absolute(sums[i][v], t[v], q);
        }
      }
      for (; c < scan.n_groups; ++c) {
        const Bytes mismatch = all_bytes(scan.byte_mismatch + c * 8);
        for (int i = 0; i < kQueries; ++i) {
          const Bytes q = all_bytes(queries[i] + c * 8);
          for (int v = 0; v < kParts; ++v) {
            const Bytes t = load_bytes(block + (c * kScanBlockRows + first + v * kByteLanes) * 8);
            sums[i][v] = add_mismatch(sums[i][v], t, q, mismatch);
          }
        }
      }
      const std::uint64_t always = scan.always[number] >> first & low_bits(kCount);
      for (int i = 0; i < kQueries; ++i) {
        std::uint64_t kept = 0;
        for (int v = 0; v < kParts; ++v) kept |= at_most(sums[i][v], scan.cuts[which[i]].most_bytes) << (v * kByteLanes);
        if ((kept | always) == 0 || i >= n) continue;
        std::int64_t wide[kCount];
        float scores[kCount];
        __builtin_memcpy(wide, sums[i], sizeof wide);
        for (int row = 0; row < kCount; ++row) scores[row] = static_cast<float>(wide[row]);
        emit(scan, which[i], visited * kScanBlockRows + first, kept, always, scores);
      }
    }
  }
};
#endif

#if defined(STOPE_AVX512)
// The same over what both rows have, with the weight of it where the sum is divided by that.
template <Divisor divisor>
struct PresentByteDifferences {
  static constexpr int kQueries = 3, kParts = 4;

  struct Sums {
    Bytes sum[kParts] = {}, by[kParts] = {};
  };

  template <bool numeric>
  STOPE_INLINE static void add_group(const Scan& scan, const std::uint8_t* rows, const std::uint8_t* const* queries,
                                     std::int64_t c, Sums* sums) {
    const Bytes mismatch = all_bytes(scan.byte_mismatch + c * 8), weight = all_bytes(scan.byte_weight + c * 8);
    Bytes t[kParts];
    __mmask64 has[kParts];
    for (int v = 0; v < kParts; ++v) {
      t[v] = load_bytes(rows + v * kByteLanes * 8);
      has[v] = _mm512_test_epi8_mask(t[v], t[v]);
    }
    for (int i = 0; i < kQueries; ++i) {
      const Bytes q = all_bytes(queries[i] + c * 8);
      const __mmask64 query_has = _mm512_test_epi8_mask(q, q);
      for (int v = 0; v < kParts; ++v) {
        const __mmask64 both = has[v] & query_has;
        Bytes& sum = sums[i].sum[v];
        if constexpr (numeric) {
          sum = add_absolute(sum, _mm512_mask_mov_epi8(q, both, t[v]), q);
        } else {
          sum = add_where(sum, _mm512_mask_cmpneq_epu8_mask(both, t[v], q), mismatch);
        }
        if constexpr (divisor == Divisor::present_weight) sums[i].by[v] = add_where(sums[i].by[v], both, weight);
      }
    }
  }

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    constexpr int kCount = kParts * kByteLanes;
    const std::int64_t number = scan.visit[visited];
    const std::uint8_t* block = scan.bytes + number * scan.n_groups * 8 * kScanBlockRows;
    const std::uint8_t* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.query_bytes + which[i] * scan.n_groups * 8;
    for (int first = 0; first < kScanBlockRows; first += kCount) {
      Sums sums[kQueries];
      std::int64_t c = 0;
      for (; c < scan.n_numeric_groups; ++c) add_group<true>(scan, block + (c * kScanBlockRows + first) * 8, queries, c, sums);
      for (; c < scan.n_groups; ++c) add_group<false>(scan, block + (c * kScanBlockRows + first) * 8, queries, c, sums);
      const std::uint64_t always = scan.always[number] >> first & low_bits(kCount);
      for (int i = 0; i < kQueries; ++i) {
        const Cut& cut = scan.cuts[which[i]];
        const __m512d alpha = _mm512_set1_pd(cut.alpha_bytes), beta = _mm512_set1_pd(cut.beta_bytes);
        std::uint64_t kept = 0;
        for (int v = 0; v < kParts; ++v) {
          const __m512d most = _mm512_fmadd_pd(alpha, _mm512_cvtepi64_pd(sums[i].by[v]), beta);
          const __mmask8 within = _mm512_cmp_pd_mask(_mm512_cvtepi64_pd(sums[i].sum[v]), most, _CMP_LE_OQ);
          kept |= static_cast<std::uint64_t>(within) << (v * kByteLanes);
        }
        if ((kept | always) == 0 || i >= n) continue;
        std::int64_t wide[kCount], by[kCount];
        float scores[kCount];
        __builtin_memcpy(wide, sums[i].sum, sizeof wide);
        __builtin_memcpy(by, sums[i].by, sizeof by);
        for (int row = 0; row < kCount; ++row) {
          scores[row] = static_cast<float>(wide[row]) / static_cast<float>(by[row] > 1 ? by[row] : 1);
        }
        emit(scan, which[i], visited * kScanBlockRows + first, kept, always, scores);
      }
    }
  }
};
#endif

// One bit a query whose cut the box around the block does not exceed: the same sum, with the query's distance from the
// box's interval in place of the difference. A missing value, on either side, adds nothing.
template <Term term>
STOPE_INLINE std::uint64_t inside_box(const Scan& scan, std::int64_t number) {
  const std::int64_t n_columns = scan.n_numeric + scan.n_equality;
  const float* low = scan.low + number * n_columns;
  const float* high = scan.high + number * n_columns;
  std::uint64_t kept = 0;
  for (int first = 0; first < kScanTileQueries; first += STOPE_LANES) {
    if (first >= scan.n_queries) break;
    Lanes sum = {};
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const Lanes q = load(scan.by_column + c * kScanTileQueries + first);
      const Lanes below = all(low[c]) - q, above = q - all(high[c]);
      Lanes distance = positive(below > above ? below : above);
      if (c >= scan.n_numeric) distance = distance > Lanes{} ? all(scan.mismatch[c]) : Lanes{};
      if constexpr (term == Term::maximum) {
        sum = distance > sum ? distance : sum;
      } else if (term == Term::square && c < scan.n_numeric) {
        sum = multiply_add(distance, distance, sum);
      } else {
        sum += distance;
      }
    }
    kept |= not_greater(sum, load(scan.box_cuts + first)) << first;
  }
  return kept;
}

template <class Group, Term term>
void scan_blocks(const Scan& scan) {
  const std::uint64_t everyone = scan.n_queries == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << scan.n_queries) - 1;
  std::int64_t skipped = 0;
  for (std::int64_t visited = 0; visited < scan.n_visit; ++visited) {
    std::uint64_t queries = everyone;
    if (scan.low != nullptr && scan.always[scan.visit[visited]] == 0) {
      queries &= inside_box<term>(scan, scan.visit[visited]);
      skipped += scan.n_queries - __builtin_popcountll(queries);
    }
    while (queries != 0) {
      int which[kMostGroup];
      int n = 0;
      for (; n < Group::kQueries && queries != 0; ++n, queries &= queries - 1) which[n] = __builtin_ctzll(queries);
      for (int i = n; i < Group::kQueries; ++i) which[i] = which[0];
      Group::run(scan, visited, which, n);
    }
  }
  *scan.n_skipped += skipped;
}

template <Term term, Divisor divisor = Divisor::none, Missing missing = Missing::skip>
constexpr ScanFunction differences() {
  return scan_blocks<Differences<Sum<term, divisor, missing>>, term>;
}

}  // namespace

ScanFunction scan(const FilterForm& form, ScanKind kind) {
  if (kind == ScanKind::products) return scan_blocks<Products, Term::square>;
#if defined(STOPE_VNNI)
  if (kind == ScanKind::byte_products) return scan_blocks<ByteProducts, Term::square>;
#endif
#if defined(STOPE_AVX512) || defined(STOPE_AVX2)
  if (kind == ScanKind::byte_differences) return scan_blocks<ByteDifferences, Term::absolute>;
#endif
#if defined(STOPE_AVX512)
  if (kind == ScanKind::byte_differences_present) {
    if (form.divisor == Divisor::none) return scan_blocks<PresentByteDifferences<Divisor::none>, Term::absolute>;
    return scan_blocks<PresentByteDifferences<Divisor::present_weight>, Term::absolute>;
  }
#endif
  if (kind != ScanKind::differences) return nullptr;
  switch (form.term) {
    case Term::square:
      if (form.missing == Missing::mismatch) return differences<Term::square, Divisor::none, Missing::mismatch>();
      if (form.divisor == Divisor::present_weight) return differences<Term::square, Divisor::present_weight>();
      return differences<Term::square>();
    case Term::absolute:
      if (form.divisor == Divisor::present_weight) return differences<Term::absolute, Divisor::present_weight>();
      if (form.divisor == Divisor::total) return differences<Term::absolute, Divisor::total>();
      return differences<Term::absolute>();
    case Term::maximum: return differences<Term::maximum>();
    case Term::relative: return differences<Term::relative>();
  }
  return nullptr;
}

#undef STOPE_INLINE
