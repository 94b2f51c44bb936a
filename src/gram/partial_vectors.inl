// Vectors of doubles that need not be whole, and their transposition in registers. Kernels over columns and over rows
// include this file behind prelude.inl.

constexpr int kLanes = kDoubleLanes;

STOPE_INLINE Doubles select(Longs mask, Doubles yes, Doubles no) {
  return mask ? yes : no;
}

// The first n < kLanes elements, then zeros. What follows may be neither read nor written.
#if defined(STOPE_AVX512)
STOPE_INLINE __mmask8 first_lanes(std::int64_t n) {
  return static_cast<__mmask8>((1U << n) - 1);
}
STOPE_INLINE Doubles load_first(const double* p, std::int64_t n) {
  return _mm512_maskz_loadu_pd(first_lanes(n), p);
}
STOPE_INLINE Doubles load_first(const float* p, std::int64_t n) {
  // gcc 12 says that _mm512_cvtps_pd uses something uninitialised.
  return _mm512_maskz_cvtps_pd(static_cast<__mmask8>(-1), _mm256_maskz_loadu_ps(first_lanes(n), p));
}
STOPE_INLINE void store_first(double* p, Doubles v, std::int64_t n) {
  _mm512_mask_storeu_pd(p, first_lanes(n), v);
}
#else
template <class T>
STOPE_INLINE Doubles load_first(const T* p, std::int64_t n) {
  Doubles v = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    if (lane < n) v[lane] = static_cast<double>(p[lane]);
  }
  return v;
}
STOPE_INLINE void store_first(double* p, Doubles v, std::int64_t n) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (lane < n) p[lane] = v[lane];
  }
}
#endif
template <class T>
STOPE_INLINE Doubles load_some(const T* p, std::int64_t n) {
  return n >= kLanes ? doubles_at(p) : load_first(p, n);
}
STOPE_INLINE void store_some(double* p, Doubles v, std::int64_t n) {
  if (n >= kLanes) return store(p, v);
  store_first(p, v, n);
}

// Lane i of vector j becomes lane j of vector i.
STOPE_INLINE void transpose(Doubles (&v)[kLanes]) {
#if STOPE_VECTOR_BYTES == 64
  // Vectors i and i + 4 are interleaved, three times.
#pragma GCC unroll 3
  for (int step = 0; step < 3; ++step) {
    Doubles mixed[kLanes];
#pragma GCC unroll 4
    for (int i = 0; i < kLanes / 2; ++i) {
      mixed[2 * i] = __builtin_shufflevector(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      mixed[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) v[i] = mixed[i];
  }
#elif STOPE_VECTOR_BYTES == 32
  const Doubles even01 = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
  const Doubles odd01 = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
  const Doubles even23 = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6);
  const Doubles odd23 = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
  v[0] = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
  v[2] = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
  v[3] = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
#else
  const Doubles first = __builtin_shufflevector(v[0], v[1], 0, 2);
  v[1] = __builtin_shufflevector(v[0], v[1], 1, 3);
  v[0] = first;
#endif
}
