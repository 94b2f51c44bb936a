// Splits keys and rows in vectors. The sources of this folder compile it once per instruction set
// (base/simd/target_region.hpp). Nothing here may use the standard library (split.hpp).

namespace {

#include "base/simd/prelude.inl"

constexpr int kLanes = STOPE_VECTOR_BYTES / 4;
constexpr std::int64_t kChunk = 256;  // rows whose sides are found before their arrays are moved

STOPE_INLINE Ints all_ints(std::int32_t v) {
  return v - Ints{};
}

KeyRange range(const std::int32_t* keys, std::int64_t n) {
  KeyRange range{INT32_MAX, INT32_MIN};
  std::int64_t i = 0;
  if (n >= kLanes) {
    Ints low = all_ints(INT32_MAX), high = all_ints(INT32_MIN);
    for (; i + kLanes <= n; i += kLanes) {
      const Ints key = load<Ints>(keys + i);
      low = key < low ? key : low;
      high = ((key > high) & (key != all_ints(kMissingKey))) ? key : high;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      range.low = low[lane] < range.low ? low[lane] : range.low;
      range.high = high[lane] > range.high ? high[lane] : range.high;
    }
  }
  for (; i < n; ++i) {
    range.low = keys[i] < range.low ? keys[i] : range.low;
    range.high = keys[i] > range.high && keys[i] != kMissingKey ? keys[i] : range.high;
  }
  return range;
}

std::int64_t count_below(const std::int32_t* keys, std::int64_t n, std::int32_t bound) {
  std::int64_t i = 0, count = 0;
  // A lane counts down to no less than -2^20.
  while (i + kLanes <= n) {
    Ints counts = {};
    const std::int64_t end = n - i > std::int64_t{kLanes} << 20 ? i + (std::int64_t{kLanes} << 20) : n;
    for (; i + kLanes <= end; i += kLanes) counts += load<Ints>(keys + i) < all_ints(bound);
    for (int lane = 0; lane < kLanes; ++lane) count -= counts[lane];
  }
  for (; i < n; ++i) count += keys[i] < bound ? 1 : 0;
  return count;
}

// There are no branches to mispredict: a key is always written, and what is not in the fence is written over.
FenceCounts copy_inside(const std::int32_t* keys, std::int64_t n, std::int32_t low, std::int32_t high,
                        std::int32_t* inside) {
  FenceCounts counts{0, 0};
  std::int64_t i = 0;
#if defined(STOPE_AVX512)
  const __m512i lows = _mm512_set1_epi32(low), highs = _mm512_set1_epi32(high);
  for (; i + kLanes <= n; i += kLanes) {
    const __m512i key = _mm512_loadu_si512(keys + i);
    const __mmask16 below = _mm512_cmplt_epi32_mask(key, lows);
    const __mmask16 in = _mm512_mask_cmplt_epi32_mask(static_cast<__mmask16>(~below), key, highs);
    // What follows the copies has room: no more keys have been copied than read.
    _mm512_storeu_si512(inside + counts.inside, _mm512_maskz_compress_epi32(in, key));
    counts.below += __builtin_popcount(below);
    counts.inside += __builtin_popcount(in);
  }
#endif
  for (; i < n; ++i) {
    const std::int32_t key = keys[i];
    inside[counts.inside] = key;
    counts.below += key < low ? 1 : 0;
    counts.inside += key >= low && key < high ? 1 : 0;
  }
  return counts;
}

#if defined(STOPE_AVX512)
// Returns the lowest `n` bits that are set.
STOPE_INLINE std::uint32_t lowest_bits(std::uint32_t bits, std::int64_t n) {
  return n >= 16 ? bits : _pdep_u32((std::uint32_t{1} << n) - 1, bits);
}

void move(const RowMove& rows) {
  constexpr std::int64_t kMasks = kChunk / kLanes;
  const __m512i cut = _mm512_set1_epi32(rows.cut);
  std::int64_t n_equal = rows.n_equal, first = 0, second = 0;
  for (std::int64_t begin = 0; begin < rows.n; begin += kChunk) {
    const std::int64_t n = rows.n - begin < kChunk ? rows.n - begin : kChunk;
    const std::int64_t n_vectors = (n + kLanes - 1) / kLanes;
    const std::int32_t* from = rows.from + begin;
    __mmask16 present[kMasks], sides[kMasks];
    for (std::int64_t v = 0; v < n_vectors; ++v) {
      const std::int64_t rest = n - v * kLanes;
      present[v] = static_cast<__mmask16>(rest >= kLanes ? 0xffff : (1 << rest) - 1);
      const __m512i key = _mm512_maskz_loadu_epi32(present[v], from + rows.key * rows.stride + v * kLanes);
      std::uint32_t side = _mm512_mask_cmplt_epi32_mask(present[v], key, cut);
      if (n_equal > 0) {
        const std::uint32_t equal = lowest_bits(_mm512_mask_cmpeq_epi32_mask(present[v], key, cut), n_equal);
        n_equal -= __builtin_popcount(equal);
        side |= equal;
      }
      sides[v] = static_cast<__mmask16>(side);
    }
    std::int64_t n_first = 0;
    for (std::int64_t array = 0; array < rows.n_arrays; ++array) {
      const std::int32_t* const values = from + array * rows.stride;
      std::int32_t* to_first = rows.first + array * rows.stride + first;
      std::int32_t* to_second = rows.second + array * rows.stride + second;
      const std::int32_t* const before = to_first;
      for (std::int64_t v = 0; v < n_vectors; ++v) {
        const __m512i value = _mm512_maskz_loadu_epi32(present[v], values + v * kLanes);
        const std::uint32_t side = sides[v], other = present[v] & ~side;
        // Only what belongs there is written: behind a half may be another task's rows.
        const int n_side = __builtin_popcount(side), n_other = __builtin_popcount(other);
        _mm512_mask_storeu_epi32(to_first, static_cast<__mmask16>((1 << n_side) - 1),
                                 _mm512_maskz_compress_epi32(static_cast<__mmask16>(side), value));
        _mm512_mask_storeu_epi32(to_second, static_cast<__mmask16>((1 << n_other) - 1),
                                 _mm512_maskz_compress_epi32(static_cast<__mmask16>(other), value));
        to_first += n_side;
        to_second += n_other;
      }
      n_first = to_first - before;
    }
    first += n_first;
    second += n - n_first;
  }
}
#else
void move(const RowMove& rows) {
  std::int64_t n_equal = rows.n_equal, first = 0, second = rows.second - rows.first;
  for (std::int64_t begin = 0; begin < rows.n; begin += kChunk) {
    const std::int64_t n = rows.n - begin < kChunk ? rows.n - begin : kChunk;
    const std::int32_t* const from = rows.from + begin;
    const std::int32_t* const keys = from + rows.key * rows.stride;
    std::int64_t places[kChunk];
    for (std::int64_t i = 0; i < n; ++i) {
      const bool equal = keys[i] == rows.cut && n_equal > 0;
      const bool side = keys[i] < rows.cut || equal;
      places[i] = side ? first : second;
      n_equal -= equal ? 1 : 0;
      first += side ? 1 : 0;
      second += side ? 0 : 1;
    }
    for (std::int64_t array = 0; array < rows.n_arrays; ++array) {
      const std::int32_t* const values = from + array * rows.stride;
      std::int32_t* const to = rows.first + array * rows.stride;
      for (std::int64_t i = 0; i < n; ++i) to[places[i]] = values[i];
    }
  }
}
#endif

}  // namespace

const SplitKernels kSplitKernels = {range, count_below, copy_inside, move};
