// a * b + c, rounded once. Kernels include this file behind prelude.inl.
//
// CPUs that run neither AVX2 nor AVX-512 have no instruction for it, and the C library takes 100 ns. The products and
// sums below are exact, up to one that is rounded to odd: then rounding the last sum is as if it were the only one
// (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, IEEE Transactions on Computers 57, 2008). Numbers
// so large or small that a step would overflow or lose bits go to the C library.

#if defined(STOPE_AVX512)
STOPE_INLINE Doubles fused(Doubles a, Doubles b, Doubles c) {
  return _mm512_fmadd_pd(a, b, c);
}
#elif defined(STOPE_AVX2)
STOPE_INLINE Doubles fused(Doubles a, Doubles b, Doubles c) {
  return _mm256_fmadd_pd(a, b, c);
}
#else

STOPE_INLINE Doubles fused_lanes(Doubles a, Doubles b, Doubles c) {
  for (int lane = 0; lane < kDoubleLanes; ++lane) c[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
  return c;
}

#if defined(__FP_FAST_FMA)
STOPE_INLINE Doubles fused(Doubles a, Doubles b, Doubles c) {
  return fused_lanes(a, b, c);
}
#else

// high + low, exactly.
struct TwoDoubles {
  Doubles high, low;
};
STOPE_INLINE TwoDoubles exact_sum(Doubles a, Doubles b) {
  const Doubles sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
// Each half has 26 bits, so that products of halves are exact.
STOPE_INLINE TwoDoubles halves(Doubles a) {
  const Doubles large = a * 134217729.0, high = large - (large - a);
  return {high, a - high};
}
STOPE_INLINE TwoDoubles exact_product(Doubles a, Doubles b) {
  const Doubles product = a * b;
  const TwoDoubles x = halves(a), y = halves(b);
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}
// Rounded to the neighbour whose last bit is set, unless it is exact.
STOPE_INLINE Doubles odd_sum(Doubles a, Doubles b) {
  const TwoDoubles sum = exact_sum(a, b);
  const Longs bits = __builtin_bit_cast(Longs, sum.high);
  const Longs towards = ((bits ^ __builtin_bit_cast(Longs, sum.low)) >> 63) | 1;  // -1 where their signs differ
  const Longs is_even = (bits & 1) - 1, is_inexact = sum.low != 0.0;
  return __builtin_bit_cast(Doubles, bits + (towards & is_even & is_inexact));
}

STOPE_INLINE Doubles magnitude(Doubles v) {
  return __builtin_bit_cast(Doubles, __builtin_bit_cast(Longs, v) & 0x7fffffffffffffff);
}
// Whether nothing overflows, and the low half of the product loses no bits. NaN is out of range.
STOPE_INLINE bool in_range(Doubles a, Doubles b, Doubles c) {
  const Doubles product = magnitude(a * b);
  const Longs small_enough = (magnitude(a) < 0x1p990) & (magnitude(b) < 0x1p990) & (magnitude(c) < 0x1p1000) &
                             (product < 0x1p1000);
  const Longs all_bits = (product > 0x1p-900) | (a == 0.0) | (b == 0.0);
  const Longs ok = small_enough & all_bits;
  bool every = true;
  for (int lane = 0; lane < kDoubleLanes; ++lane) every &= ok[lane] != 0;
  return every;
}

STOPE_INLINE Doubles fused(Doubles a, Doubles b, Doubles c) {
  if (!in_range(a, b, c)) return fused_lanes(a, b, c);
  const TwoDoubles product = exact_product(a, b);
  const TwoDoubles lower = exact_sum(c, product.low), upper = exact_sum(product.high, lower.high);
  return upper.high + odd_sum(lower.low, upper.low);
}

#endif
#endif
