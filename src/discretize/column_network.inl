// The bodies of column_network.hpp. column_network_<level>.cpp compile them, once per instruction set
// (base/simd/target_region.hpp).

namespace {

#include "base/simd/prelude.inl"

constexpr double kLargest = 0x1.fffffffffffffp+1023;
constexpr double kNextToZero = 0x1.0p-1000;  // a subnormal number below zero would become -0.0, whose order minpd ignores

STOPE_INLINE Longs all_bits(std::uint64_t v) {
  return all(static_cast<std::int64_t>(v));
}
STOPE_INLINE Longs bits_of(Doubles v) {
  return __builtin_bit_cast(Longs, v);
}
STOPE_INLINE Doubles doubles_of(Longs v) {
  return __builtin_bit_cast(Doubles, v);
}

// Words as doubles.
STOPE_INLINE Doubles load(const std::uint64_t* p) {
  return load<Doubles>(__builtin_assume_aligned(p, sizeof(Doubles)));
}
STOPE_INLINE void store(std::uint64_t* p, Doubles v) {
  store<Doubles>(__builtin_assume_aligned(p, sizeof v), v);
}

// If either is NaN, this returns b, as the instruction does.
STOPE_INLINE Doubles min(Doubles a, Doubles b) {
#if defined(STOPE_AVX512)
  return _mm512_maskz_min_pd(0xff, a, b);  // gcc 12 warns of its own _mm512_min_pd (GCC bug 105593)
#elif defined(STOPE_AVX2)
  return _mm256_min_pd(a, b);
#else
  for (int i = 0; i < kDoubleLanes; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
  return a;
#endif
}
STOPE_INLINE Doubles max(Doubles a, Doubles b) {
#if defined(STOPE_AVX512)
  return _mm512_maskz_max_pd(0xff, a, b);
#elif defined(STOPE_AVX2)
  return _mm256_max_pd(a, b);
#else
  for (int i = 0; i < kDoubleLanes; ++i) a[i] = a[i] > b[i] ? a[i] : b[i];
  return a;
#endif
}

// One bit per lane: whether it has any bit set.
STOPE_INLINE std::uint32_t lanes_set(Longs v) {
  std::uint32_t set = 0;
  for (int i = 0; i < kDoubleLanes; ++i) set |= (v[i] != 0 ? 1U : 0U) << i;
  return set;
}

// Loads value `row` of every column.
template <class T>
STOPE_INLINE Doubles gather(const NetworkColumns& columns, std::int64_t row) {
  Doubles v;
  for (int i = 0; i < kDoubleLanes; ++i) v[i] = static_cast<double>(static_cast<const T*>(columns.columns[i])[row]);
  return v;
}

// Writes the words in the order of the ranks. Lanes that are not zero in the result are inexact.
template <class T>
STOPE_INLINE Longs make_words(const NetworkColumns& columns, std::uint64_t* words) {
  const Longs rank_mask = all_bits(kRankMask), no_sign = all_bits(~(std::uint64_t{1} << 63));
  const Doubles largest = all(kLargest), lowest = all(-kLargest), next_to_zero = all(kNextToZero);
  Longs inexact{};
  for (std::int64_t row = 0; row < columns.n; ++row) {
    const Doubles value = gather<T>(columns, row) + 0.0;  // -0 becomes +0
    const Doubles clamped = min(max(value, lowest), largest);
    const Longs far = doubles_of(bits_of(clamped) & no_sign) >= next_to_zero;
    const Longs bits = bits_of(clamped) & far;
    inexact |= (bits & rank_mask) | (bits ^ bits_of(value));
    store(words + columns.ranks[row] * kDoubleLanes, doubles_of((bits & ~rank_mask) | all_bits(columns.ranks[row])));
  }
  return inexact;
}

STOPE_INLINE void order(std::uint64_t* a, std::uint64_t* b) {
  const Doubles x = load(a), y = load(b);
  store(a, min(x, y));
  store(b, max(x, y));
}

// Blocks of kBlock words are sorted in registers. The words left over at the end are inserted one by one.
constexpr std::int64_t kBlock = kDoubleLanes == 8 ? 16 : 8;

STOPE_INLINE void order(Doubles& a, Doubles& b) {
  const Doubles low = min(a, b);
  b = max(a, b);
  a = low;
}

STOPE_INLINE void sort_block(std::uint64_t* words) {
  Doubles v[kBlock];
#pragma GCC unroll 16
  for (int i = 0; i < kBlock; ++i) v[i] = load(words + i * kDoubleLanes);
#pragma GCC unroll 16
  for (int p = 1; p < kBlock; p *= 2) {
#pragma GCC unroll 16
    for (int k = p; k >= 1; k /= 2) {
#pragma GCC unroll 16
      for (int i = k % p; i + k < kBlock; ++i) {
        if ((i - k % p) / k % 2 == 0 && i / (2 * p) == (i + k) / (2 * p)) order(v[i], v[i + k]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kBlock; ++i) store(words + i * kDoubleLanes, v[i]);
}

// Batcher's odd-even merge sort of any number of words. It works as if words beyond n were larger than all others.
STOPE_INLINE void sort_words(std::uint64_t* words, std::int64_t n) {
  const std::int64_t whole = n / kBlock * kBlock;
  for (std::int64_t i = 0; i < whole; i += kBlock) sort_block(words + i * kDoubleLanes);
  for (std::int64_t i = whole + 1; i < n; ++i) {
    for (std::int64_t j = i; j > whole; --j) order(words + (j - 1) * kDoubleLanes, words + j * kDoubleLanes);
  }
  for (std::int64_t p = kBlock; p < n; p *= 2) {
    for (std::int64_t k = p; k >= 1; k /= 2) {
      for (std::int64_t j = k % p; j + k < n; j += 2 * k) {
        const std::int64_t end = j + k < n - k ? j + k : n - k;
        if (j / (2 * p) != (j + k) / (2 * p)) continue;
        for (std::int64_t i = j; i < end; ++i) order(words + i * kDoubleLanes, words + (i + k) * kDoubleLanes);
      }
    }
  }
}

STOPE_INLINE std::uint32_t find_ties(const std::uint64_t* words, std::int64_t n) {
  const Longs mask = all_bits(~kRankMask);
  Longs ties{};
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const Longs a = bits_of(load(words + i * kDoubleLanes)), b = bits_of(load(words + (i + 1) * kDoubleLanes));
    ties |= ((a ^ b) & mask) == Longs{};
  }
  return lanes_set(ties);
}

template <class T>
NetworkFlags sort_columns(const NetworkColumns& columns, std::uint64_t* words) {
  const Longs inexact = make_words<T>(columns, words);
  sort_words(words, columns.n);
  return {lanes_set(inexact), find_ties(words, columns.n)};
}

// W as a double: it is below 2^20. A row that goes left adds N_1 - 2 L_1 if of the first class, N_0 - 2 L_0 if of the
// second.
void two_classes(const std::uint64_t* words, std::int64_t n, std::int64_t n_first, NetworkBest& result) {
  const Longs rank_mask = all_bits(kRankMask), first_ranks = all_bits(static_cast<std::uint64_t>(n_first));
  const Doubles n_second = all(static_cast<double>(n - n_first));
  Doubles w{}, best{}, position = all(-1.0);
  Doubles twice_second{};  // 2 L_1
  Longs word = bits_of(load(words));
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const Longs next = bits_of(load(words + (i + 1) * kDoubleLanes));
    const Longs first = (word & rank_mask) < first_ranks;
    const Doubles of_second = all(static_cast<double>(n_first - 2 * i)) + twice_second;
    const Doubles of_first = n_second - twice_second;
    w += doubles_of((bits_of(of_first) & first) | (bits_of(of_second) & ~first));
    twice_second += doubles_of(bits_of(all(2.0)) & ~first);
    const Longs differs = ((word ^ next) & ~rank_mask) != Longs{};
    const Longs better = (w > best) & differs;
    best = doubles_of((bits_of(w) & better) | (bits_of(best) & ~better));
    position = doubles_of((bits_of(all(static_cast<double>(i))) & better) | (bits_of(position) & ~better));
    word = next;
  }
  __builtin_memcpy(result.w, &best, sizeof best);
  __builtin_memcpy(result.position, &position, sizeof position);
}

// A vector has sixteen permutations. W gains N - N_k - 2 (i - L_k) where the i-th row in order has class k.
typedef std::int32_t Counts __attribute__((vector_size(64)));
typedef std::uint8_t Labels __attribute__((vector_size(16)));
constexpr int kCounts = kPermutations / 16;

void permuted(const PermutedColumn& column, std::int32_t* result) {
  Counts w[kCounts] = {}, best[kCounts] = {}, twice_left[kMostPermutedClasses][kCounts] = {};
  const auto n = static_cast<std::int32_t>(column.n);
  for (std::int32_t i = 0; i + 1 < n; ++i) {
    const std::uint8_t* labels = column.labels + column.rows[i] * column.stride;
    for (int c = 0; c < kCounts; ++c) {
      Labels bytes;
      __builtin_memcpy(&bytes, labels + 16 * c, sizeof bytes);
      const Counts label = __builtin_convertvector(bytes, Counts);
      for (int k = 0; k < column.n_classes; ++k) {
        const Counts here = label == k;
        w[c] += here & (twice_left[k][c] + (n - column.totals[k] - 2 * i));
        twice_left[k][c] += here & 2;
      }
    }
    if (column.differs[i] == 0) continue;
    for (int c = 0; c < kCounts; ++c) {
      const Counts better = w[c] > best[c];
      best[c] = (w[c] & better) | (best[c] & ~better);
    }
  }
  __builtin_memcpy(result, best, sizeof best);
}

}  // namespace

const NetworkKernels kNetworkKernels = {
    STOPE_LEVEL_NAME, kDoubleLanes, sort_columns<double>, sort_columns<float>, two_classes, permuted};
