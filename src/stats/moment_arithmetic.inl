// Included by moments.hpp, and by leaf_kernels.inl once per instruction set; everything in here then has internal
// linkage. R is double or a vector of doubles.

/// Moments of some rows. `mean` is measured from a pivot, one of the values, which is kept elsewhere. An offset common
/// to all values therefore costs no digits. m2 and m3 are sums of powers of the distances from the mean.
template <class R>
struct Moments {
  R n, mean, m2, m3;
};

/// Computes moments from sums of the first three powers of the distances from the pivot. Meaningless for n = 0.
template <class R>
STOPE_MOMENTS_INLINE void center(const R& n, const R& s1, const R& s2, const R& s3, Moments<R>& out) {
  const R mean = s1 / n;
  const R square = s1 * mean;
  out.n = n;
  out.mean = mean;
  out.m2 = s2 - square;
  out.m3 = s3 - mean * (s2 * 3.0 - square * 2.0);
}

/// Joins `a` and the rows behind it, `b`; `pivots` = pivot of b - pivot of a. Both sides must have n > 0. The result is
/// measured from a's pivot.
template <class R>
STOPE_MOMENTS_INLINE void join(Moments<R>& a, const Moments<R>& b, const R& pivots) {
  const R n = a.n + b.n;
  const R share_a = a.n / n, share_b = b.n / n;
  const R delta = pivots + (b.mean - a.mean);
  const R spread = delta * delta * (a.n * share_b);
  a.m3 = (a.m3 + b.m3) + delta * (spread * (share_a - share_b) + (share_a * b.m2 - share_b * a.m2) * 3.0);
  a.m2 = (a.m2 + b.m2) + spread;
  a.mean = a.mean + delta * share_b;
  a.n = n;
}
