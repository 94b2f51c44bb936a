// The bodies of leaf_kernels.hpp, compiled once per instruction set by leaf_<level>.cpp (base/simd/target_region.hpp).

namespace {

#include "base/simd/prelude.inl"

#define STOPE_MOMENTS_INLINE STOPE_INLINE
#include "stats/moment_arithmetic.inl"
#undef STOPE_MOMENTS_INLINE

// A sweep takes some of the chains through the leaf: those whose sums fit the registers.
#if defined(STOPE_AVX512)
constexpr int kGroups = 4;
#else
constexpr int kGroups = 2;
#endif
constexpr int kSweep = kGroups * kDoubleLanes;
constexpr std::uint32_t kSweepBits = kSweep == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << (kSweep & 31)) - 1;

// Exactly as many values of a type as one register holds.
template <class T>
struct Raw;
template <>
struct Raw<float> {
  typedef Floats Type;
};
template <>
struct Raw<double> {
  typedef Doubles Type;
};
template <>
struct Raw<std::int32_t> {
  typedef Ints Type;
};
template <>
struct Raw<std::int64_t> {
  typedef Longs Type;
};

// Bit i: x[i] is zero or NaN (integers: is zero).
STOPE_INLINE std::uint32_t special_bits(const float* x) {
#if defined(STOPE_AVX512)
  const __m512 zero = _mm512_setzero_ps();
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(x), zero, _CMP_EQ_UQ) |
         static_cast<std::uint32_t>(_mm512_cmp_ps_mask(_mm512_loadu_ps(x + 16), zero, _CMP_EQ_UQ)) << 16;
#elif defined(STOPE_AVX2)
  return static_cast<std::uint32_t>(
      _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_setzero_ps(), _CMP_EQ_UQ)));
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < kSweep; ++i) bits |= !(x[i] < 0.0F || x[i] > 0.0F) ? 1U << i : 0U;
  return bits;
#endif
}
STOPE_INLINE std::uint32_t special_bits(const double* x) {
  std::uint32_t bits = 0;
#if defined(STOPE_AVX512)
  for (int i = 0; i < kSweep; i += 8) {
    const __mmask8 mask = _mm512_cmp_pd_mask(_mm512_loadu_pd(x + i), _mm512_setzero_pd(), _CMP_EQ_UQ);
    bits |= static_cast<std::uint32_t>(mask) << i;
  }
#elif defined(STOPE_AVX2)
  for (int i = 0; i < kSweep; i += 4) {
    const __m256d mask = _mm256_cmp_pd(_mm256_loadu_pd(x + i), _mm256_setzero_pd(), _CMP_EQ_UQ);
    bits |= static_cast<std::uint32_t>(_mm256_movemask_pd(mask)) << i;
  }
#else
  for (int i = 0; i < kSweep; ++i) bits |= !(x[i] < 0.0 || x[i] > 0.0) ? 1U << i : 0U;
#endif
  return bits;
}
STOPE_INLINE std::uint32_t special_bits(const std::int32_t* x) {
#if defined(STOPE_AVX512)
  const __m512i zero = _mm512_setzero_si512();
  return _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(x), zero) |
         static_cast<std::uint32_t>(_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(x + 16), zero)) << 16;
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < kSweep; ++i) bits |= x[i] == 0 ? 1U << i : 0U;
  return bits;
#endif
}
STOPE_INLINE std::uint32_t special_bits(const std::int64_t* x) {
  std::uint32_t bits = 0;
#if defined(STOPE_AVX512)
  for (int i = 0; i < kSweep; i += 8) {
    const __mmask8 mask = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(x + i), _mm512_setzero_si512());
    bits |= static_cast<std::uint32_t>(mask) << i;
  }
#else
  for (int i = 0; i < kSweep; ++i) bits |= x[i] == 0 ? 1U << i : 0U;
#endif
  return bits;
}

// Bit i: x[i] is NaN.
STOPE_INLINE std::uint32_t nan_bits(const float* x) {
#if defined(STOPE_AVX512)
  const __m512 low = _mm512_loadu_ps(x), high = _mm512_loadu_ps(x + 16);
  return _mm512_cmp_ps_mask(low, low, _CMP_UNORD_Q) |
         static_cast<std::uint32_t>(_mm512_cmp_ps_mask(high, high, _CMP_UNORD_Q)) << 16;
#elif defined(STOPE_AVX2)
  const __m256 v = _mm256_loadu_ps(x);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < kSweep; ++i) bits |= x[i] != x[i] ? 1U << i : 0U;
  return bits;
#endif
}
STOPE_INLINE std::uint32_t nan_bits(const double* x) {
  std::uint32_t bits = 0;
#if defined(STOPE_AVX512)
  for (int i = 0; i < kSweep; i += 8) {
    const __m512d v = _mm512_loadu_pd(x + i);
    bits |= static_cast<std::uint32_t>(_mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q)) << i;
  }
#elif defined(STOPE_AVX2)
  for (int i = 0; i < kSweep; i += 4) {
    const __m256d v = _mm256_loadu_pd(x + i);
    bits |= static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(v, v, _CMP_UNORD_Q))) << i;
  }
#else
  for (int i = 0; i < kSweep; ++i) bits |= x[i] != x[i] ? 1U << i : 0U;
#endif
  return bits;
}
STOPE_INLINE std::uint32_t nan_bits(const std::int32_t*) {
  return 0;
}
STOPE_INLINE std::uint32_t nan_bits(const std::int64_t*) {
  return 0;
}

// All ones where the bit of the lane is set.
STOPE_INLINE Longs mask_of(std::uint32_t bits) {
  Longs lane = {};
  for (int i = 0; i < kDoubleLanes; ++i) lane[i] = std::int64_t{1} << i;
  const Longs all = lane * 0 + static_cast<std::int64_t>(bits);
  return (all & lane) == lane;
}
STOPE_INLINE Doubles pick(Longs mask, Doubles yes, Doubles no) {
  return mask ? yes : no;
}

// The sums of kSweep chains, in registers.
template <class T>
struct Sums {
  static constexpr bool kInteger = T(0.5) == T(0);
  static constexpr bool kLong = kInteger && sizeof(T) == 8;
  Doubles pivot[kGroups], pivot_low[kGroups];
  Doubles s0[kGroups], s1[kGroups], s2[kGroups], s3[kGroups];
  Longs low[kGroups], high[kGroups];
  Longs absent[kGroups];
  typename Raw<T>::Type min[kGroups], max[kGroups];  // floats need fewer
  std::uint32_t pending;                             // one bit per chain that has no pivot yet
};

template <class T>
constexpr int kRaw = kSweep * int(sizeof(T)) / STOPE_VECTOR_BYTES;

// Converts the values of a group to doubles. For int64 it returns the upper half, and the lower one in `low`.
STOPE_INLINE Doubles widen(const float* x, Doubles&) {
  return doubles_at(x);
}
STOPE_INLINE Doubles widen(const double* x, Doubles&) {
  return doubles_at(x);
}
STOPE_INLINE Doubles widen(const std::int32_t* x, Doubles&) {
  return __builtin_convertvector(load<HalfInts>(x), Doubles);
}
STOPE_INLINE Doubles widen(const std::int64_t* x, Doubles& low) {
  const Longs v = load<Longs>(x);
  low = __builtin_convertvector(__builtin_convertvector(v, HalfUnsigned), Doubles);
  return __builtin_convertvector(__builtin_convertvector(v >> 32, HalfInts), Doubles);
}

STOPE_INLINE void add_integers(Sums<float>&, int, const float*, Longs) {}
STOPE_INLINE void add_integers(Sums<double>&, int, const double*, Longs) {}
STOPE_INLINE void add_integers(Sums<std::int32_t>& sums, int g, const std::int32_t* x, Longs keep) {
  sums.low[g] += __builtin_convertvector(load<HalfInts>(x), Longs) & keep;
}
STOPE_INLINE void add_integers(Sums<std::int64_t>& sums, int g, const std::int64_t* x, Longs keep) {
  const Longs v = load<Longs>(x) & keep;
  sums.low[g] += v & 0xffffffff;
  sums.high[g] += v >> 32;
}

// kMasked: the lanes in `absent` hold no value.
template <class T, bool kMasked>
STOPE_INLINE void add_group(Sums<T>& sums, int g, const T* x, Longs absent) {
  Doubles low = {}, d;
  Doubles v = widen(x, low);
  if constexpr (Sums<T>::kLong) {
    d = (v - sums.pivot[g]) * 4294967296.0 + (low - sums.pivot_low[g]);
  } else {
    d = v - sums.pivot[g];
  }
  if constexpr (kMasked) {
    const Doubles zero = {};
    d = pick(absent, zero, d);
    v = pick(absent, zero, v);
    sums.absent[g] -= absent;
  }
  if constexpr (Sums<T>::kInteger) {
    add_integers(sums, g, x, ~absent);
  } else {
    sums.s0[g] += v;
  }
  const Doubles square = d * d;
  sums.s1[g] += d;
  sums.s2[g] += square;
  sums.s3[g] += square * d;
}

template <class T>
STOPE_INLINE void add_extremes(Sums<T>& sums, const T* x) {
  typedef typename Raw<T>::Type RawVec;
  for (int i = 0; i < kRaw<T>; ++i) {
    const RawVec v = load<RawVec>(x + i * int(sizeof(RawVec) / sizeof(T)));
    // The comparison is false for NaN, so that NaN never wins.
    sums.min[i] = v < sums.min[i] ? v : sums.min[i];
    sums.max[i] = v > sums.max[i] ? v : sums.max[i];
  }
}

template <class T>
STOPE_INLINE void take_pivots(Sums<T>& sums, const T* x, std::uint32_t absent) {
  for (int g = 0; g < kGroups; ++g) {
    const Longs take = mask_of((sums.pending & ~absent) >> (g * kDoubleLanes));
    Doubles low = {};
    const Doubles v = widen(x + g * kDoubleLanes, low);
    sums.pivot[g] = pick(take, v, sums.pivot[g]);
    if constexpr (Sums<T>::kLong) sums.pivot_low[g] = pick(take, low, sums.pivot_low[g]);
  }
  sums.pending &= absent;
}

template <class T, bool kMoments>
STOPE_INLINE void add_masked(Sums<T>& sums, const T* x, std::uint32_t absent) {
  if constexpr (!kMoments) return;
  if (sums.pending != 0) take_pivots(sums, x, absent);
  for (int g = 0; g < kGroups; ++g) {
    add_group<T, true>(sums, g, x + g * kDoubleLanes, mask_of(absent >> (g * kDoubleLanes)));
  }
}

struct Counts {
  std::int64_t missing = 0, zeros = 0;
};

template <class T, bool kMoments>
STOPE_INLINE void add_step(Sums<T>& sums, const T* x, Counts& counts) {
  const std::uint32_t special = special_bits(x);
  add_extremes(sums, x);
  if (__builtin_expect((special | sums.pending) != 0, 0)) {
    const std::uint32_t absent = nan_bits(x);
    counts.missing += __builtin_popcount(absent);
    counts.zeros += __builtin_popcount(special & ~absent);
    if ((absent | sums.pending) != 0) {
      add_masked<T, kMoments>(sums, x, absent);
      return;
    }
  }
  if constexpr (kMoments) {
    const Longs none = {};
    for (int g = 0; g < kGroups; ++g) add_group<T, false>(sums, g, x + g * kDoubleLanes, none);
  }
}

// The sums of every chain, ready for the joins of all 32.
struct Chains {
  alignas(64) double n[kChains], pivot[kChains], pivot_low[kChains], s0[kChains], s1[kChains], s2[kChains], s3[kChains];
};

template <class T>
STOPE_INLINE void start(Sums<T>& sums, bool moments) {
  for (int g = 0; g < kGroups; ++g) {
    sums.pivot[g] = sums.pivot_low[g] = sums.s0[g] = sums.s1[g] = sums.s2[g] = sums.s3[g] = Doubles{};
    sums.low[g] = sums.high[g] = sums.absent[g] = Longs{};
  }
  for (int i = 0; i < kRaw<T>; ++i) {
    sums.min[i] = typename Raw<T>::Type{} + Limits<T>::kHighest;
    sums.max[i] = typename Raw<T>::Type{} + Limits<T>::kLowest;
  }
  sums.pending = moments ? kSweepBits : 0;
}

template <class T, bool kMoments>
static void sweep(const T* x, std::int64_t n, int first, Chains* chains, LeafSums<T>* out) {
  Sums<T> sums;
  start(sums, kMoments);
  Counts counts;
  const std::int64_t full = n / kChains;
  for (std::int64_t t = 0; t < full; ++t) add_step<T, kMoments>(sums, x + t * kChains + first, counts);
  const std::int64_t left = n - full * kChains - first;  // of the last, incomplete row of chains
  if (left > 0) {
    const int there = left < kSweep ? int(left) : kSweep;
    const T* from = x + full * kChains + first;
    T padded[kSweep];
    for (int i = 0; i < kSweep; ++i) padded[i] = from[i < there ? i : 0];
    const std::uint32_t beyond = there == kSweep ? 0 : kSweepBits & ~((std::uint32_t{1} << there) - 1);
    const std::uint32_t nan = nan_bits(padded) & ~beyond;
    counts.missing += __builtin_popcount(nan);
    counts.zeros += __builtin_popcount(special_bits(padded) & ~nan & ~beyond);
    add_extremes(sums, padded);
    add_masked<T, kMoments>(sums, padded, nan | beyond);
  }
  out->missing += counts.missing;
  out->zeros += counts.zeros;
  for (int i = 0; i < kRaw<T>; ++i) {
    for (int j = 0; j < int(sizeof(sums.min[i]) / sizeof(T)); ++j) {
      if (sums.min[i][j] < out->min) out->min = sums.min[i][j];
      if (sums.max[i][j] > out->max) out->max = sums.max[i][j];
    }
  }
  if constexpr (kMoments) {
    for (int g = 0; g < kGroups; ++g) {
      const int at = first + g * kDoubleLanes;
      for (int i = 0; i < kDoubleLanes; ++i) {
        const std::int64_t rows = full + (at + i < n - full * kChains ? 1 : 0);
        // `absent` counts the padding, too, but chains that were padded have one row less to begin with.
        const bool padded = n > full * kChains + first && at + i >= n - full * kChains;
        chains->n[at + i] = double(rows - sums.absent[g][i] + (padded ? 1 : 0));
        out->integer_low += sums.low[g][i];
        out->integer_high += sums.high[g][i];
      }
      store(chains->pivot + at, sums.pivot[g]);
      store(chains->pivot_low + at, sums.pivot_low[g]);
      store(chains->s0 + at, sums.s0[g]);
      store(chains->s1 + at, sums.s1[g]);
      store(chains->s2 + at, sums.s2[g]);
      store(chains->s3 + at, sums.s3[g]);
    }
  }
}

STOPE_INLINE Moments<Doubles> moments_at(const Chains& chains, int i) {
  return {doubles_at(chains.n + i), doubles_at(chains.s1 + i), doubles_at(chains.s2 + i), doubles_at(chains.s3 + i)};
}
STOPE_INLINE void put(Chains& chains, int i, const Moments<Doubles>& m) {
  store(chains.n + i, m.n);
  store(chains.s1 + i, m.mean);
  store(chains.s2 + i, m.m2);
  store(chains.s3 + i, m.m3);
}

// Joins the chains in halves. The members s1, s2, s3 hold mean, m2, m3 from here on. Lanes behind the last useful one
// compute values that are never read.
template <bool kLong>
static void join_chains(Chains& chains) {
  for (int i = 0; i < kChains; i += kDoubleLanes) {
    Moments<Doubles> m;
    const Moments<Doubles> sums = moments_at(chains, i);
    center(sums.n, sums.mean, sums.m2, sums.m3, m);
    put(chains, i, m);
  }
  for (int half = kChains / 2; half >= 1; half /= 2) {
    for (int i = 0; i < half; i += kDoubleLanes) {
      Moments<Doubles> a = moments_at(chains, i);
      const Moments<Doubles> b = moments_at(chains, i + half), before = a;
      const Doubles pivot = doubles_at(chains.pivot + i), pivot_b = doubles_at(chains.pivot + i + half);
      const Doubles low = doubles_at(chains.pivot_low + i), low_b = doubles_at(chains.pivot_low + i + half);
      Doubles pivots = pivot_b - pivot;
      if constexpr (kLong) pivots = pivots * 4294967296.0 + (low_b - low);
      join(a, b, pivots);
      const Doubles zero = {};
      const Longs no_a = before.n == zero, no_b = b.n == zero;
      const auto choose = [&](Doubles joined, Doubles ours, Doubles theirs) { return pick(no_b, ours, pick(no_a, theirs, joined)); };
      put(chains, i,
          {a.n, choose(a.mean, before.mean, b.mean), choose(a.m2, before.m2, b.m2), choose(a.m3, before.m3, b.m3)});
      store(chains.pivot + i, choose(pivot, pivot, pivot_b));
      store(chains.pivot_low + i, choose(low, low, low_b));
      const Doubles sum = doubles_at(chains.s0 + i) + doubles_at(chains.s0 + i + half);
      store(chains.s0 + i, sum);
    }
  }
}

template <class T>
STOPE_INLINE void clear(LeafSums<T>& out) {
  out.min = Limits<T>::kHighest;
  out.max = Limits<T>::kLowest;
  out.missing = out.zeros = out.integer_low = out.integer_high = 0;
  out.min_piece = out.max_piece = -1;
  out.sum = out.pivot_high = out.pivot_low = 0.0;
}

template <class T>
STOPE_INLINE void put_joined(Chains& chains, LeafSums<T>& out) {
  join_chains<Sums<T>::kLong>(chains);
  out.sum = chains.s0[0];
  out.pivot_high = chains.pivot[0];
  out.pivot_low = chains.pivot_low[0];
  out.moments.n = chains.n[0];
  out.moments.mean = chains.s1[0];
  out.moments.m2 = chains.s2[0];
  out.moments.m3 = chains.s3[0];
}

template <class T>
static void leaf(const T* x, std::int64_t n, Wanted wanted, LeafSums<T>* out) {
  clear(*out);
  if (wanted == Wanted::extremes) {
    for (int first = 0; first < kChains; first += kSweep) sweep<T, false>(x, n, first, nullptr, out);
    return;
  }
  Chains chains;
  for (int first = 0; first < kChains; first += kSweep) sweep<T, true>(x, n, first, &chains, out);
  put_joined(chains, *out);
}

#include "stats/row_kernels.inl"

}  // namespace

const LeafKernels kLeafKernels = {STOPE_LEVEL_NAME,
                                  leaf<float>,
                                  leaf<double>,
                                  leaf<std::int32_t>,
                                  leaf<std::int64_t>,
                                  rows<float>,
                                  rows<double>,
                                  rows<std::int32_t>,
                                  rows<std::int64_t>,
                                  kRowColumns,
                                  kRowScratch};
