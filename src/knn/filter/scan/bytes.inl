// Compares blocks of bytes with some queries by their differences, where the CPU has AVX2 or AVX-512. kernels.inl includes
// this file once per instruction set.

#if defined(STOPE_AVX512) || defined(STOPE_AVX2)
// Sums of absolute differences, and of mismatches, in bytes: a 64-bit lane takes 8 columns of a row.
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

// Loads eight bytes of a query or of the columns' constants into every lane.
STOPE_INLINE Bytes all_bytes(const std::uint8_t* p) {
  std::int64_t eight;
  __builtin_memcpy(&eight, p, 8);
  return all_bytes(eight);
}

constexpr std::uint64_t low_bits(int count) {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (count & 63)) - 1;
}

template <int n_queries = 3>
struct ByteDifferences {
  static constexpr int kQueries = n_queries;
  using Lone = ByteDifferences<1>;
#if defined(STOPE_AVX512)
  static constexpr int kParts = 8;
#else
  static constexpr int kParts = 4;
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
// ByteDifferences over the columns that both rows have. Their weight is added up where the sum is divided by it.
template <Divisor divisor, int n_queries = 3>
struct PresentByteDifferences {
  static constexpr int kQueries = n_queries, kParts = 4;
  using Lone = PresentByteDifferences<divisor, 1>;

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
