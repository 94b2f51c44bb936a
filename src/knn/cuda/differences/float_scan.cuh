// Sums over images in floats: each thread has a register tile of pairs (register_tile.cuh), and columns pass through
// shared memory.
//
// Where nothing is missing, a term takes two instructions: one for the difference and one that adds it. Each term is
// off by less than eight roundings. So a sum of n terms is off by less than a share (n + 8) 2^-23
// (filter/sum_bounds.hpp).
#pragma once

#include "knn/cuda/differences/scan_loop.cuh"

namespace stope::knn::cuda {

/// Adds the terms of a sum. With `kMissing`, values may be missing (NaN). Without it, the weight compared is that of
/// all attributes, and a quotient by it needs no divisor.
template <Term term, Divisor divisor, Missing missing, bool kMissing>
struct Terms {
  static constexpr bool kDivides = divisor != Divisor::none;
  static_assert(divisor != Divisor::present_weight || kMissing);

  /// Returns the larger of `value` and 0, and 0 for NaN.
  __device__ static float present(float value) { return kMissing ? fmaxf(value, 0.0F) : value; }

  __device__ static void add_numeric(float t, float q, float mismatch, float weight, float& sum, float& by) {
    const float difference = t - q;
    if constexpr (term == Term::square && missing == Missing::mismatch && kMissing) {
      const float squared = difference * difference;
      sum += squared == squared ? squared : mismatch;
    } else if constexpr (term == Term::square) {
      sum = kMissing ? sum + present(difference * difference) : __fmaf_rn(difference, difference, sum);
    } else if constexpr (term == Term::absolute) {
      sum += present(fabsf(difference));
    } else if constexpr (term == Term::maximum) {
      sum = fmaxf(sum, fabsf(difference));  // fmaxf ignores NaN
    } else {
      float inverse;
      const float size = fabsf(t) + fabsf(q);  // 0, or within 2^-100 ... 2^102
      asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(size));
      sum = __fmaf_rn(weight, fmaxf(fabsf(difference) * inverse, 0.0F), sum);  // 0 * infinity is NaN, which becomes 0
    }
    if constexpr (divisor == Divisor::present_weight) by += difference == difference ? weight : 0.0F;
    if constexpr (divisor == Divisor::total) by += present(fabsf(t) + fabsf(q));
  }

  __device__ static void add_equality(float t, float q, float mismatch, float weight, float& sum, float& by) {
    bool different = t != q;  // true if either is NaN
    if constexpr (kMissing && missing != Missing::mismatch) different = t < q || t > q;
    if constexpr (term == Term::maximum) {
      sum = fmaxf(sum, different ? mismatch : 0.0F);
    } else {
      sum += different ? mismatch : 0.0F;
    }
    if constexpr (divisor == Divisor::present_weight) by += different || t == q ? weight : 0.0F;
  }
};

template <int kQuads, bool kDivides>
struct FloatPairs {
  using Place = PairPlace<kQuads>;
  static constexpr int kRows = Place::kRows;
  static constexpr int kNeverKey = 0x7f800000;  // bits of infinity: the key of a row that the scan must not see
  float sums[kPairQueries][kRows];
  float divisors[kDivides ? kPairQueries : 1][kRows];

  __device__ void start(const std::uint32_t* starts, const Place& place, int part) {
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      const float start = __uint_as_float(starts[place.row(part, j)]);
#pragma unroll
      for (int i = 0; i < kPairQueries; ++i) {
        sums[i][j] = start;
        if constexpr (kDivides) divisors[i][j] = 0.0F;
      }
    }
  }
  __device__ float divisor(int i, int j) const { return kDivides ? divisors[kDivides ? i : 0][j] : 0.0F; }

  /// Copies the sums of a query, then its divisors.
  __device__ void copy(int i, std::uint32_t (&words)[8]) const {
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      words[j] = __float_as_uint(sums[i][j]);
      if constexpr (kDivides) words[kRows + j] = __float_as_uint(divisors[i][j]);
    }
  }
  __device__ static Entry entry_of(std::uint32_t sum, std::uint32_t divisor) {
    return {__uint_as_float(sum), __uint_as_float(divisor), 0};
  }
  __device__ static int key_of(std::uint32_t sum, std::uint32_t divisor, float alpha) {
    if constexpr (!kDivides) return static_cast<int>(sum);
    return __float_as_int(excess_of({alpha, 0.0F}, __uint_as_float(sum), __uint_as_float(divisor)));
  }

  __device__ int key(int i, int j, float alpha) const {
    return key_of(__float_as_uint(sums[i][j]), __float_as_uint(divisor(i, j)), alpha);
  }
  __device__ static int limit(float beta) { return __float_as_int(beta); }
  __device__ int score_key(int i, int j) const { return __float_as_int(score_of<kDivides>(sums[i][j], divisor(i, j))); }
  __device__ static float score(int key) { return __int_as_float(key); }
};

template <class T>
struct DifferenceWork {
  static constexpr bool kDivides = T::kDivides;
  static constexpr int kQuads = kDivides ? 1 : 2;
  using Place = PairPlace<kQuads>;
  using Pairs = FloatPairs<kQuads, kDivides>;

  DifferenceScan scan;
  Pool pool{};

  __device__ PairImages images() const {
    return {reinterpret_cast<const std::uint32_t*>(scan.queries), reinterpret_cast<const std::uint32_t*>(scan.train),
            reinterpret_cast<const std::uint32_t*>(scan.starts), even_lines(scan.n_columns)};
  }
  __device__ static int n_products() { return 0; }
  __device__ void add(const Panel& panel, const std::uint32_t* queries, const std::uint32_t* rows, const Place& place,
                      int part, Pairs& pairs) const {
    const int n = min(panel.n, scan.n_columns - panel.first);
    const int n_numeric = max(0, min(n, scan.n_numeric - panel.first));
    add_columns(0, n_numeric, panel.first, queries, rows, place, part, pairs,
                [](auto&&... x) { T::add_numeric(x...); });
    add_columns(n_numeric, n, panel.first, queries, rows, place, part, pairs,
                [](auto&&... x) { T::add_equality(x...); });
  }

 private:
  template <class Add>
  __device__ void add_columns(int from, int to, int first_column, const std::uint32_t* queries,
                              const std::uint32_t* rows, const Place& place, int part, Pairs& pairs,
                              const Add& add_term) const {
#pragma unroll 2
    for (int c = from; c < to; ++c) {
      const auto* const qs = reinterpret_cast<const float*>(queries) + line_place(c);
      const auto* const ts = reinterpret_cast<const float*>(rows) + line_place(c);
      float q[kPairQueries], t[Place::kRows];
      *reinterpret_cast<float4*>(q) = *reinterpret_cast<const float4*>(qs + place.queries);
      *reinterpret_cast<float4*>(q + 4) = *reinterpret_cast<const float4*>(qs + place.queries + 32);
#pragma unroll
      for (int quad = 0; quad < kQuads; ++quad) {
        *reinterpret_cast<float4*>(t + 4 * quad) = *reinterpret_cast<const float4*>(ts + place.row(part, 4 * quad));
      }
      const float mismatch = __ldg(scan.mismatch + first_column + c), weight = __ldg(scan.weight + first_column + c);
      [[maybe_unused]] float nothing = 0.0F;
#pragma unroll
      for (int i = 0; i < kPairQueries; ++i) {
#pragma unroll
        for (int j = 0; j < Place::kRows; ++j) {
          if constexpr (kDivides) {
            add_term(t[j], q[i], mismatch, weight, pairs.sums[i][j], pairs.divisors[i][j]);
          } else {
            add_term(t[j], q[i], mismatch, weight, pairs.sums[i][j], nothing);
          }
        }
      }
    }
  }
};

template <class T, template <int, bool> class Sink, class Job>
void launch_differences(const DifferenceScan& scan, const Job& job, cudaStream_t stream) {
  launch_pairs_of<Sink>(DifferenceWork<T>{scan}, even_lines(scan.n_columns), job, stream);
}

/// Launches the kernel for tables with missing values, or the faster one for tables without gaps.
template <class WithGaps, class Complete, template <int, bool> class Sink, class Job>
void launch_of_gaps(const DifferenceScan& scan, const Job& job, cudaStream_t stream) {
  scan.gaps ? launch_differences<WithGaps, Sink>(scan, job, stream)
            : launch_differences<Complete, Sink>(scan, job, stream);
}

/// Launches the kernel of a form.
template <template <int, bool> class Sink, class Job>
void launch_of_form(const DifferenceScan& scan, const Job& job, cudaStream_t stream) {
  constexpr auto kSkip = Missing::skip;
  using Squares = Terms<Term::square, Divisor::none, kSkip, true>;
  using SquaresAndMissing = Terms<Term::square, Divisor::none, Missing::mismatch, true>;
  using MeanSquares = Terms<Term::square, Divisor::present_weight, kSkip, true>;
  using CompleteSquares = Terms<Term::square, Divisor::none, kSkip, false>;
  using Absolutes = Terms<Term::absolute, Divisor::none, kSkip, true>;
  using MeanAbsolutes = Terms<Term::absolute, Divisor::present_weight, kSkip, true>;
  using CompleteAbsolutes = Terms<Term::absolute, Divisor::none, kSkip, false>;
  using AbsolutesOfTotal = Terms<Term::absolute, Divisor::total, kSkip, true>;
  using Maximum = Terms<Term::maximum, Divisor::none, kSkip, true>;
  using Relative = Terms<Term::relative, Divisor::none, kSkip, true>;
  switch (scan_sum(scan.form)) {
    case ScanSum::squares: return launch_of_gaps<Squares, CompleteSquares, Sink>(scan, job, stream);
    case ScanSum::squares_and_missing:
      return launch_of_gaps<SquaresAndMissing, CompleteSquares, Sink>(scan, job, stream);
    case ScanSum::mean_squares: return launch_of_gaps<MeanSquares, CompleteSquares, Sink>(scan, job, stream);
    case ScanSum::absolutes: return launch_of_gaps<Absolutes, CompleteAbsolutes, Sink>(scan, job, stream);
    case ScanSum::mean_absolutes: return launch_of_gaps<MeanAbsolutes, CompleteAbsolutes, Sink>(scan, job, stream);
    case ScanSum::absolutes_of_total: return launch_differences<AbsolutesOfTotal, Sink>(scan, job, stream);
    case ScanSum::maximum: return launch_differences<Maximum, Sink>(scan, job, stream);
    case ScanSum::relative: return launch_differences<Relative, Sink>(scan, job, stream);
    case ScanSum::products:     // has_gpu_filter()
    case ScanSum::none: break;  // no measure names such a form: it would not compile
  }
  throw Error(ErrorCode::internal, "no scan computes this filter form");
}

}  // namespace stope::knn::cuda
