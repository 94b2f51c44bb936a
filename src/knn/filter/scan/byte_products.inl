// Compares blocks of bytes with some queries by inner products (floats.inl), which are exact: in one instruction for four
// terms where the CPU has VNNI, else in pairs. kernels.inl includes this file once per instruction set, after bytes.inl
// and floats.inl.

#if defined(STOPE_AVX512) || defined(STOPE_AVX2)
#if defined(STOPE_AVX512)
constexpr int kByteQueries = 6, kByteParts = 4;
STOPE_INLINE Bytes add_sums(Bytes a, Bytes b) {
  return _mm512_add_epi32(a, b);
}
STOPE_INLINE Bytes add_shorts(Bytes a, Bytes b) {
  return _mm512_add_epi16(a, b);
}
STOPE_INLINE Bytes add_pairs(Bytes pairs) {
  return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
}
STOPE_INLINE Bytes pairs_of_products(Bytes rows, Bytes query) {
  return _mm512_maddubs_epi16(rows, query);
}
STOPE_INLINE std::uint64_t at_least(Bytes sum, std::int32_t least) {
  return _mm512_cmpge_epi32_mask(sum, _mm512_set1_epi32(least));
}
#else
constexpr int kByteQueries = 4, kByteParts = 2;
STOPE_INLINE Bytes add_sums(Bytes a, Bytes b) {
  return _mm256_add_epi32(a, b);
}
STOPE_INLINE Bytes add_shorts(Bytes a, Bytes b) {
  return _mm256_add_epi16(a, b);
}
STOPE_INLINE Bytes add_pairs(Bytes pairs) {
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
STOPE_INLINE Bytes pairs_of_products(Bytes rows, Bytes query) {
  return _mm256_maddubs_epi16(rows, query);
}
STOPE_INLINE std::uint64_t at_least(Bytes sum, std::int32_t least) {
  const __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(least), sum);
  return ~static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(below))) & 255;
}
#endif
STOPE_INLINE Bytes four_bytes(const std::uint8_t* p) {
  std::int32_t four;
  __builtin_memcpy(&four, p, 4);
  return __builtin_bit_cast(Bytes, four - Ints{});
}

// Adds four products a lane. Without VNNI two of them are added in 16 bits first; queries are made so that they fit
// (make_byte_image in derived_images.cpp).
STOPE_INLINE Bytes add_products(Bytes sum, Bytes rows, Bytes query) {
#if defined(STOPE_AVX512_VNNI)
  return _mm512_dpbusd_epi32(sum, rows, query);
#else
  return add_sums(sum, add_pairs(pairs_of_products(rows, query)));
#endif
}

// Lists the rows whose sums reach the query's cut: n_parts registers, from `position` on.
template <int n_parts>
STOPE_INLINE void emit_products(const Scan& scan, int query, std::int64_t position, const Bytes (&sums)[n_parts],
                                std::uint64_t always) {
  constexpr int kLanes = sizeof(Bytes) / 4, kRows = n_parts * kLanes;
  const Cut& cut = scan.cuts[query];
  std::uint64_t kept = 0;
  for (int v = 0; v < n_parts; ++v) kept |= at_least(sums[v], cut.least_bytes) << (v * kLanes);
  if ((kept | always) == 0) return;
  std::int32_t wide[kRows];
  float scores[kRows];
  __builtin_memcpy(wide, sums, sizeof wide);
  for (int row = 0; row < kRows; ++row) scores[row] = cut.norm - 2.0F * static_cast<float>(wide[row]);
  emit(scan, query, position, kept, always, scores);
}

template <int n_queries = kByteQueries, int n_parts = kByteParts>
struct ByteProducts {
  static constexpr int kQueries = n_queries, kLanes = sizeof(Bytes) / 4, kRows = n_parts * kLanes;
  using Lone = ByteProducts<1, kScanBlockRows / kLanes>;

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    const std::int64_t number = scan.visit[visited];
    const std::uint8_t* block = scan.bytes + number * scan.n_groups * 4 * kScanBlockRows;
    const std::uint8_t* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.query_bytes + which[i] * scan.n_groups * 4;
    for (int first = 0; first < kScanBlockRows; first += kRows) {
      Bytes sums[kQueries][n_parts];
      for (int v = 0; v < n_parts; ++v) {
        const std::int32_t* starts = scan.byte_starts + number * kScanBlockRows + first + v * kLanes;
        const Bytes start = load_bytes(reinterpret_cast<const std::uint8_t*>(starts));
        for (int i = 0; i < kQueries; ++i) sums[i][v] = start;
      }
      for (std::int64_t c = 0; c < scan.n_groups; ++c) {
        Bytes t[n_parts];
        for (int v = 0; v < n_parts; ++v) t[v] = load_bytes(block + (c * kScanBlockRows + first + v * kLanes) * 4);
        for (int i = 0; i < kQueries; ++i) {
          const Bytes q = four_bytes(queries[i] + c * 4);
          for (int v = 0; v < n_parts; ++v) sums[i][v] = add_products(sums[i][v], t[v], q);
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

#if defined(STOPE_AVX512_VNNI)
// ByteProducts over the columns that both rows have (filter/present_products.hpp). The squares of training numbers count
// where the query lacks the column: few groups, which differ from query to query.
template <int n_queries = 6>
struct PresentByteProducts {
  static constexpr int kQueries = n_queries, kParts = 4;
  using Lone = PresentByteProducts<1>;

  STOPE_INLINE static void run(const Scan& scan, std::int64_t visited, const int* which, int n) {
    const std::int64_t number = scan.visit[visited], n_columns = scan.n_groups + scan.n_masked_groups;
    const std::int64_t row_bytes = (n_columns + scan.n_groups) * 4;
    const std::uint8_t* block = scan.bytes + number * row_bytes * kScanBlockRows;
    const std::uint8_t* queries[kQueries];
    for (int i = 0; i < kQueries; ++i) queries[i] = scan.query_bytes + which[i] * row_bytes;
    __m512i sums[kQueries][kParts];
    for (int v = 0; v < kParts; ++v) {
      const __m512i start = _mm512_loadu_si512(scan.byte_starts + number * kScanBlockRows + v * 16);
      for (int i = 0; i < kQueries; ++i) sums[i][v] = start;
    }
    for (std::int64_t c = 0; c < n_columns; ++c) {
      __m512i t[kParts];
      for (int v = 0; v < kParts; ++v) t[v] = _mm512_loadu_si512(block + (c * kScanBlockRows + v * 16) * 4);
      for (int i = 0; i < kQueries; ++i) {
        const __m512i q = four_bytes(queries[i] + c * 4);
        for (int v = 0; v < kParts; ++v) sums[i][v] = _mm512_dpbusd_epi32(sums[i][v], t[v], q);
      }
    }
    const std::uint64_t always = scan.always[number];
    for (int i = 0; i < kQueries; ++i) {
      if (i >= n) break;
      const std::int32_t* gaps = scan.gaps + which[i] * (2 * scan.n_groups + 1);
      __m512i both_lack[kParts] = {};  // 64 * 64 for each column
      for (std::int32_t gap = 0; gap < gaps[0]; ++gap) {
        const std::int64_t c = n_columns + gaps[2 * gap + 1], masks = gaps[2 * gap + 2];
        const __m512i q = four_bytes(queries[i] + c * 4);
        for (int v = 0; v < kParts; ++v) {
          const __m512i t = _mm512_loadu_si512(block + (c * kScanBlockRows + v * 16) * 4);
          sums[i][v] = _mm512_dpbusd_epi32(sums[i][v], t, q);
        }
        if (masks < 0) continue;
        for (int v = 0; v < kParts; ++v) {
          const __m512i t = _mm512_loadu_si512(block + (masks * kScanBlockRows + v * 16) * 4);
          both_lack[v] = _mm512_dpbusd_epi32(both_lack[v], t, q);
        }
      }
      const Cut& cut = scan.cuts[which[i]];
      const __m512 least = _mm512_set1_ps(cut.least), half_alpha = _mm512_set1_ps(cut.half_alpha);
      const __m512 most = _mm512_set1_ps(cut.weight), floor = _mm512_set1_ps(cut.floor);
      const __m512 lacking = _mm512_set1_ps(cut.lacking), each = _mm512_set1_ps(cut.least_weight * 0x1p-12F);
      __m512 values[kParts], weights[kParts];
      std::uint64_t kept = 0;
      for (int v = 0; v < kParts; ++v) {
        values[v] = _mm512_maskz_cvtepi32_ps(0xffff, sums[i][v]);
        const __m512 row = _mm512_loadu_ps(scan.row_weights + number * kScanBlockRows + v * 16) - lacking;
        const __m512 both = _mm512_fmadd_ps(each, _mm512_maskz_cvtepi32_ps(0xffff, both_lack[v]), row);
        weights[v] = _mm512_maskz_min_ps(0xffff, _mm512_maskz_max_ps(0xffff, both, floor), most);
        const __m512 bound = _mm512_fnmadd_ps(half_alpha, weights[v], least);
        kept |= static_cast<std::uint64_t>(_mm512_cmp_ps_mask(values[v], bound, _CMP_NLT_UQ)) << (v * 16);
      }
      if ((kept | always) == 0) continue;
      alignas(64) float scores[kScanBlockRows];
      for (int v = 0; v < kParts; ++v) _mm512_store_ps(scores + v * 16, (cut.norm - 2.0F * values[v]) / weights[v]);
      emit(scan, which[i], visited * kScanBlockRows, kept, always, scores);
    }
  }
};
#endif
