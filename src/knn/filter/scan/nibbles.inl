// Compares blocks of nibbles with some queries, by inner products in whole numbers. A byte of a training row has two
// columns, so that a query by itself reads half of what bytes take. kernels.inl includes this file once per instruction
// set, after bytes.inl.

#if defined(STOPE_AVX512) || defined(STOPE_AVX2)
#if defined(STOPE_AVX512)
constexpr int kNibbleParts = 4;
STOPE_INLINE Bytes low_nibbles(Bytes v) {
  return _mm512_and_si512(v, _mm512_set1_epi8(15));
}
STOPE_INLINE Bytes high_nibbles(Bytes v) {
  return low_nibbles(_mm512_srli_epi16(v, 4));
}
STOPE_INLINE Bytes four_bytes(std::int32_t four) {
  return _mm512_set1_epi32(four);
}
STOPE_INLINE Bytes add_sums(Bytes a, Bytes b) {
  return _mm512_add_epi32(a, b);
}
STOPE_INLINE std::uint64_t at_least(Bytes sum, std::int32_t least) {
  return _mm512_cmpge_epi32_mask(sum, _mm512_set1_epi32(least));
}
#else
constexpr int kNibbleParts = 2;
STOPE_INLINE Bytes low_nibbles(Bytes v) {
  return _mm256_and_si256(v, _mm256_set1_epi8(15));
}
STOPE_INLINE Bytes high_nibbles(Bytes v) {
  return low_nibbles(_mm256_srli_epi16(v, 4));
}
STOPE_INLINE Bytes four_bytes(std::int32_t four) {
  return _mm256_set1_epi32(four);
}
STOPE_INLINE Bytes add_sums(Bytes a, Bytes b) {
  return _mm256_add_epi32(a, b);
}
STOPE_INLINE std::uint64_t at_least(Bytes sum, std::int32_t least) {
  const __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(least), sum);
  return ~static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(below))) & 255;
}
#endif

// Partial sums. VNNI adds four products to 32 bits at once. Other sets add them to 16 bits: two pairs of products of 15
// and 127 a group, so that four groups stay below 2^15.
#if defined(STOPE_AVX512_VNNI)
constexpr std::int64_t kGroupsTogether = std::int64_t{1} << 32;
STOPE_INLINE Bytes add_group(Bytes sum, Bytes low, Bytes high, Bytes query_low, Bytes query_high) {
  return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(sum, low, query_low), high, query_high);
}
STOPE_INLINE Bytes in_32_bits(Bytes sum) {
  return sum;
}
#elif defined(STOPE_AVX512)
constexpr std::int64_t kGroupsTogether = 4;
STOPE_INLINE Bytes add_group(Bytes sum, Bytes low, Bytes high, Bytes query_low, Bytes query_high) {
  const Bytes products = _mm512_add_epi16(_mm512_maddubs_epi16(low, query_low), _mm512_maddubs_epi16(high, query_high));
  return _mm512_add_epi16(sum, products);
}
STOPE_INLINE Bytes in_32_bits(Bytes sum) {
  return _mm512_madd_epi16(sum, _mm512_set1_epi16(1));
}
#else
constexpr std::int64_t kGroupsTogether = 4;
STOPE_INLINE Bytes add_group(Bytes sum, Bytes low, Bytes high, Bytes query_low, Bytes query_high) {
  const Bytes products = _mm256_add_epi16(_mm256_maddubs_epi16(low, query_low), _mm256_maddubs_epi16(high, query_high));
  return _mm256_add_epi16(sum, products);
}
STOPE_INLINE Bytes in_32_bits(Bytes sum) {
  return _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
}
#endif

template <int n_queries = 4, int n_parts = kNibbleParts>
struct NibbleProducts {
  static constexpr int kQueries = n_queries, kLanes = sizeof(Bytes) / 4, kRows = n_parts * kLanes;
  using Lone = NibbleProducts<1, kScanBlockRows / kLanes>;

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    const std::int64_t number = scan.visit[visited];
    const std::uint8_t* block = scan.bytes + number * scan.n_groups * 4 * kScanBlockRows;
    const std::uint8_t* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.query_bytes + which[i] * scan.n_groups * 8;
    for (int first = 0; first < kScanBlockRows; first += kRows) {
      Bytes sums[kQueries][n_parts];
      for (int v = 0; v < n_parts; ++v) {
        const std::int32_t* starts = scan.byte_starts + number * kScanBlockRows + first + v * kLanes;
        const Bytes start = load_bytes(reinterpret_cast<const std::uint8_t*>(starts));
        for (int i = 0; i < kQueries; ++i) sums[i][v] = start;
      }
      for (std::int64_t c = 0; c < scan.n_groups;) {
        const std::int64_t end = scan.n_groups - c < kGroupsTogether ? scan.n_groups : c + kGroupsTogether;
        Bytes partial[kQueries][n_parts] = {};
        for (; c < end; ++c) {
          Bytes low[n_parts], high[n_parts];
          for (int v = 0; v < n_parts; ++v) {
            const Bytes t = load_bytes(block + (c * kScanBlockRows + first + v * kLanes) * 4);
            low[v] = low_nibbles(t), high[v] = high_nibbles(t);
          }
          for (int i = 0; i < kQueries; ++i) {
            std::int32_t fours[2];
            __builtin_memcpy(fours, queries[i] + c * 8, 8);
            const Bytes q = four_bytes(fours[0]), r = four_bytes(fours[1]);
            for (int v = 0; v < n_parts; ++v) partial[i][v] = add_group(partial[i][v], low[v], high[v], q, r);
          }
        }
        for (int i = 0; i < kQueries; ++i) {
          for (int v = 0; v < n_parts; ++v) sums[i][v] = add_sums(sums[i][v], in_32_bits(partial[i][v]));
        }
      }
      const std::uint64_t always = scan.always[number] >> first & row_bits(kRows);
      for (int i = 0; i < kQueries; ++i) {
        const Cut& cut = scan.cuts[which[i]];
        std::uint64_t kept = 0;
        for (int v = 0; v < n_parts; ++v) kept |= at_least(sums[i][v], cut.least_bytes) << (v * kLanes);
        if ((kept | always) == 0 || i >= n) continue;
        std::int32_t wide[kRows];
        float scores[kRows];
        __builtin_memcpy(wide, sums[i], sizeof wide);
        for (int row = 0; row < kRows; ++row) scores[row] = cut.norm - 2.0F * static_cast<float>(wide[row]);
        emit(scan, which[i], visited * kScanBlockRows + first, kept, always, scores);
      }
    }
  }
};
#endif
