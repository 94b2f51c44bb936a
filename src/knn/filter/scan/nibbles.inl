// Compares blocks of nibbles with some queries, by inner products in whole numbers. A byte of a training row has two
// columns, so that a query by itself reads half of what bytes take. kernels.inl includes this file once per instruction
// set, after byte_products.inl.

#if defined(STOPE_AVX512) || defined(STOPE_AVX2)
#if defined(STOPE_AVX512)
constexpr int kNibbleParts = 4;
STOPE_INLINE Bytes low_nibbles(Bytes v) {
  return _mm512_and_si512(v, _mm512_set1_epi8(15));
}
STOPE_INLINE Bytes high_nibbles(Bytes v) {
  return low_nibbles(_mm512_srli_epi16(v, 4));
}
#else
constexpr int kNibbleParts = 2;
STOPE_INLINE Bytes low_nibbles(Bytes v) {
  return _mm256_and_si256(v, _mm256_set1_epi8(15));
}
STOPE_INLINE Bytes high_nibbles(Bytes v) {
  return low_nibbles(_mm256_srli_epi16(v, 4));
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
#else
constexpr std::int64_t kGroupsTogether = 4;
STOPE_INLINE Bytes add_group(Bytes sum, Bytes low, Bytes high, Bytes query_low, Bytes query_high) {
  return add_shorts(sum, add_shorts(pairs_of_products(low, query_low), pairs_of_products(high, query_high)));
}
STOPE_INLINE Bytes in_32_bits(Bytes sum) {
  return add_pairs(sum);
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
            const Bytes q = four_bytes(queries[i] + c * 8), r = four_bytes(queries[i] + c * 8 + 4);
            for (int v = 0; v < n_parts; ++v) partial[i][v] = add_group(partial[i][v], low[v], high[v], q, r);
          }
        }
        for (int i = 0; i < kQueries; ++i) {
          for (int v = 0; v < n_parts; ++v) sums[i][v] = add_sums(sums[i][v], in_32_bits(partial[i][v]));
        }
      }
      const std::uint64_t always = scan.always[number] >> first & row_bits(kRows);
      for (int i = 0; i < kQueries; ++i) {
        if (i < n) emit_products(scan, which[i], visited * kScanBlockRows + first, sums[i], always);
      }
    }
  }
};
#endif
