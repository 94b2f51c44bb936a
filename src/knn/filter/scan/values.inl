// Adds up the squares of a query's differences from the rows of a block, in doubles and in the formula's order: the
// sums have the bits of the formula. kernels.inl includes this file once per instruction set.

constexpr int kDoubleVectors = kScanBlockRows / kDoubleLanes;

// Returns one bit per lane: set if a is not greater, so that NaN counts as a hit.
STOPE_INLINE std::uint64_t none_greater(Doubles a, Doubles b) {
#if defined(STOPE_AVX512)
  return _mm512_cmp_pd_mask(a, b, _CMP_NGT_UQ);
#elif defined(STOPE_AVX2)
  return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_NGT_UQ)));
#else
  const Longs greater = a > b;
  std::uint64_t bits = 0;
  for (int lane = 0; lane < kDoubleLanes; ++lane) bits |= std::uint64_t{greater[lane] == 0} << lane;
  return bits;
#endif
}

std::uint64_t squares_of_values(const double* block, const double* query, std::int64_t n_columns, double cut,
                                double* sums) {
  // As many sums as fit in registers.
  constexpr int kAtOnce = kDoubleVectors < 8 ? kDoubleVectors : 8;
  std::uint64_t within = 0;
  for (int first = 0; first < kDoubleVectors; first += kAtOnce) {
    Doubles of_rows[kAtOnce] = {};
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const double* const column = block + c * kScanBlockRows + first * kDoubleLanes;
      const Doubles q = all(query[c]);
      for (int v = 0; v < kAtOnce; ++v) {
        const Doubles difference = load<Doubles>(column + v * kDoubleLanes) - q;
        of_rows[v] += difference * difference;
      }
    }
    for (int v = 0; v < kAtOnce; ++v) {
      within |= none_greater(of_rows[v], all(cut)) << ((first + v) * kDoubleLanes);
      store(sums + (first + v) * kDoubleLanes, of_rows[v]);
    }
  }
  return within;
}

// NaN is not below.
std::uint64_t sums_below(const double* sums, double cut) {
  std::uint64_t others = 0;
  for (int v = 0; v < kDoubleVectors; ++v) {
    others |= none_greater(all(cut), load<Doubles>(sums + v * kDoubleLanes)) << (v * kDoubleLanes);
  }
  return ~others;
}

// Writes how many of n candidates are nearer than each, by distance and then by row. The arrays go on for a register,
// with infinity and with rows behind all others.
void rank_candidates(const double* distances, const std::int64_t* rows, std::int64_t n, std::int32_t* ranks) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Doubles distance = all(distances[i]);
    const Longs row = all(rows[i]);
    Longs nearer = {};
    for (std::int64_t j = 0; j < n; j += kDoubleLanes) {
      const Doubles others = load<Doubles>(distances + j);
      const Longs rows_of_others = load<Longs>(rows + j);
      nearer += (others < distance) | ((others == distance) & (rows_of_others < row));
    }
    std::int64_t rank = 0;
    for (int lane = 0; lane < kDoubleLanes; ++lane) rank -= nearer[lane];
    ranks[i] = static_cast<std::int32_t>(rank);
  }
}
