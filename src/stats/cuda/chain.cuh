// One chain of a leaf (stats/moments.hpp) in a thread's registers. The operations are those of leaf_kernels.inl, in the
// same order, so that the bits are the CPU's.
#pragma once

#include <cstdint>
#include <type_traits>

#include "stats/part.hpp"

namespace stope::stats::cuda {

template <class T>
struct Numbers;
template <>
struct Numbers<float> {
  using Wide = double;
  static constexpr bool kInteger = false, kLong = false;
  static __device__ float highest() { return __int_as_float(0x7f800000); }
  static __device__ float lowest() { return __int_as_float(static_cast<int>(0xff800000u)); }
};
template <>
struct Numbers<double> {
  using Wide = double;
  static constexpr bool kInteger = false, kLong = false;
  static __device__ double highest() { return __longlong_as_double(0x7ff0000000000000LL); }
  static __device__ double lowest() { return __longlong_as_double(static_cast<long long>(0xfff0000000000000ULL)); }
};
template <>
struct Numbers<std::int32_t> {
  using Wide = std::int64_t;
  static constexpr bool kInteger = true, kLong = false;
  static __device__ std::int32_t highest() { return INT32_MAX; }
  static __device__ std::int32_t lowest() { return INT32_MIN; }
};
template <>
struct Numbers<std::int64_t> {
  using Wide = std::int64_t;
  static constexpr bool kInteger = true, kLong = true;
  static __device__ std::int64_t highest() { return INT64_MAX; }
  static __device__ std::int64_t lowest() { return INT64_MIN; }
};

__device__ inline float smaller(float a, float b) {
  return fminf(a, b);  // if one is NaN, the other
}
__device__ inline float larger(float a, float b) {
  return fmaxf(a, b);
}
template <class T>
__device__ T smaller(T a, T b) {
  return a < b ? a : b;  // b where a is NaN
}
template <class T>
__device__ T larger(T a, T b) {
  return a > b ? a : b;
}

/// A chain as it lies in shared memory, in as few bytes as possible.
template <class T>
struct PackedChain {
  struct Halves {
    std::int64_t low, high;
  };
  using Sum =
      std::conditional_t<!Numbers<T>::kInteger, double, std::conditional_t<Numbers<T>::kLong, Halves, std::int64_t>>;
  double s1, s2, s3;
  Sum sum;
  T pivot, min, max;
  unsigned marks;
};

template <class T, bool kMoments>
struct Chain {
  using Wide = typename Numbers<T>::Wide;
  Chain() = default;
  __device__ explicit Chain(const PackedChain<T>& packed)
      : s1(packed.s1), s2(packed.s2), s3(packed.s3), min(packed.min), max(packed.max), marks(packed.marks) {
    set_pivot(packed.pivot);
    if constexpr (!Numbers<T>::kInteger) {
      s0 = packed.sum;
    } else if constexpr (Numbers<T>::kLong) {
      low = packed.sum.low;
      high = packed.sum.high;
    } else {
      low = packed.sum;
    }
  }
  __device__ PackedChain<T> packed() const {
    PackedChain<T> to;
    to.s1 = s1;
    to.s2 = s2;
    to.s3 = s3;
    if constexpr (!Numbers<T>::kInteger) {
      to.sum = s0;
    } else if constexpr (Numbers<T>::kLong) {
      to.sum = {low, high};
    } else {
      to.sum = low;
    }
    to.pivot = static_cast<T>(whole_pivot());
    to.min = min;
    to.max = max;
    to.marks = marks;
    return to;
  }

  double pivot = 0.0, pivot_low = 0.0;
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  std::int64_t low = 0, high = 0;
  T min = Numbers<T>::highest(), max = Numbers<T>::lowest();
  // Counts of at most 256 values, in one register: how many are missing, how many are zero, whether there is a pivot.
  // With more registers, several chains of a thread would not fit.
  static constexpr unsigned kMissing = 1, kZero = 1U << 10, kHasPivot = 1U << 20, kCount = kZero - 1;
  static_assert(kChainRows <= kCount);
  unsigned marks = 0;

  static __device__ bool is_odd(T x) {  // zero or NaN
    if constexpr (Numbers<T>::kInteger) return x == 0;
    return !(x < T(0) || x > T(0));
  }

  template <int kValues>
  __device__ void add(const T (&x)[kValues]) {
    bool odd = kMoments && (marks & kHasPivot) == 0;
#pragma unroll
    for (int i = 0; i < kValues; ++i) odd |= is_odd(x[i]);
    if (odd) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) add_one(x[i]);
      return;
    }
#pragma unroll
    for (int i = 0; i < kValues; ++i) add_value(x[i]);
  }

  /// Adds a value that may be zero, NaN or the chain's first.
  __device__ void add_one(T x) {
    if (x != x) {
      marks += kMissing;
      return;
    }
    if (x == T(0)) marks += kZero;
    if (kMoments && (marks & kHasPivot) == 0) {
      marks |= kHasPivot;
      set_pivot(x);
    }
    add_value(x);
  }

  /// Returns the part of the `n` values that were added.
  __device__ Part<Wide> part(std::int64_t leaf_row, int n) const {
    const int missing = static_cast<int>(marks & kCount), present = n - missing;
    Part<Wide> part;
    part.count = present;
    part.missing = missing;
    part.zeros = static_cast<int>(marks / kZero & kCount);
    part.min_row = part.max_row = leaf_row;
    part.min = static_cast<Wide>(min);
    part.max = static_cast<Wide>(max);
    if constexpr (!kMoments) return part;
    if constexpr (Numbers<T>::kInteger) {
      stats::add(part.sum, low);
      if constexpr (Numbers<T>::kLong) {
        stats::add(part.sum, WideSum{high >> 32, static_cast<std::uint64_t>(high) << 32});
      }
    } else {
      part.sum = s0;
    }
    part.pivot = whole_pivot();
    if (present > 0) center(static_cast<double>(present), s1, s2, s3, part.moments);
    return part;
  }

 private:
  __device__ void set_pivot(T x) {
    pivot = upper(x);
    if constexpr (Numbers<T>::kLong) pivot_low = static_cast<double>(x & 0xffffffff);
  }
  __device__ Wide whole_pivot() const {
    if constexpr (Numbers<T>::kLong) {
      return static_cast<std::int64_t>(pivot) * 4294967296LL + static_cast<std::int64_t>(pivot_low);
    }
    return static_cast<Wide>(pivot);
  }
  static __device__ double upper(T x) {
    if constexpr (Numbers<T>::kLong) return static_cast<double>(x >> 32);
    return static_cast<double>(x);
  }
  __device__ void add_value(T x) {
    min = smaller(x, min);
    max = larger(x, max);
    if constexpr (!kMoments) return;
    double d;
    if constexpr (Numbers<T>::kLong) {
      d = (upper(x) - pivot) * 4294967296.0 + (static_cast<double>(x & 0xffffffff) - pivot_low);
      low += x & 0xffffffff;
      high += x >> 32;
    } else {
      const double v = static_cast<double>(x);
      d = v - pivot;
      if constexpr (Numbers<T>::kInteger) {
        low += x;
      } else {
        s0 += v;
      }
    }
    const double square = d * d;
    s1 += d;
    s2 += square;
    s3 += square * d;
  }
};

}  // namespace stope::stats::cuda
