// Sums over images in bytes, in exact whole numbers. |q - t| of numbers takes one instruction for four bytes.
// Mismatches and missing values are products of signed bytes on the matrix units (byte_layout.hpp).
//
// Both add to the same registers. So a thread has the pairs of a matrix instruction's accumulators (register_tile.cuh).
#pragma once

#include "knn/cuda/differences/scan_loop.cuh"

namespace stope::knn::cuda {

// Words of one matrix instruction, which adds 32 products to a pair.
inline constexpr int kProductWords = 8;
static_assert(kPanelUnit == kProductWords);

template <int kQuads>
using IntSums = int[kPairQueries][PairPlace<kQuads>::kRows];

/// Adds |q - t| of the four bytes of a word to the sums.
template <int kQuads>
__device__ __forceinline__ void add_word(const std::uint32_t* queries, const std::uint32_t* rows,
                                         IntSums<kQuads>& sums) {
  constexpr int kRows = PairPlace<kQuads>::kRows;
  std::uint32_t q[kPairQueries], t[kRows];
  *reinterpret_cast<uint4*>(q) = *reinterpret_cast<const uint4*>(queries);
  *reinterpret_cast<uint4*>(q + 4) = *reinterpret_cast<const uint4*>(queries + 32);
#pragma unroll
  for (int quad = 0; quad < kQuads; ++quad) {
    *reinterpret_cast<uint4*>(t + 4 * quad) = *reinterpret_cast<const uint4*>(rows + 16 * quad);
  }
#pragma unroll
  for (int i = 0; i < kPairQueries; ++i) {
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sums[i][j]) : "r"(q[i]), "r"(t[j]));
    }
  }
}

/// The same for the words [from, to), of which `from` begins a pair of lines.
template <int kQuads>
__device__ __forceinline__ void add_differences(const std::uint32_t* queries, const std::uint32_t* rows, int from,
                                                int to, const PairPlace<kQuads>& place, int part,
                                                IntSums<kQuads>& sums) {
  const std::uint32_t* qs = queries + line_place(from) + place.queries;
  const std::uint32_t* ts = rows + line_place(from) + place.row(part, 0);
  int w = from;
#pragma unroll 1
  for (; w + 1 < to; w += 2, qs += kLinePair, ts += kLinePair) {
    add_word<kQuads>(qs, ts, sums);
    add_word<kQuads>(qs + kPairTile, ts + kPairTile, sums);
  }
  if (w < to) add_word<kQuads>(qs, ts, sums);
}

__device__ __forceinline__ void multiply_add(int& c0, int& c1, int& c2, int& c3, std::uint32_t a0, std::uint32_t a1,
                                             std::uint32_t a2, std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(c0), "+r"(c1), "+r"(c2), "+r"(c3)
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
  __trap();  // the session refuses bytes on such a GPU
#endif
}

/// Adds the products of the bytes of words [from, to) to the sums. Queries 2i and 2i + 1 of a thread are rows lane / 4
/// and lane / 4 + 8 of a matrix instruction. Its training rows 2j and 2j + 1 are columns lane % 4 * 2 and the next.
/// Both sides agree on the words that a lane holds, and nothing else matters about them.
template <int kQuads>
__device__ __forceinline__ void add_products(const std::uint32_t* queries, const std::uint32_t* rows, int from, int to,
                                             const PairPlace<kQuads>& place, int part, IntSums<kQuads>& sums) {
  const int line_pair = place.lane % 4 * kLinePair;
  const int query = line_pair + product_place_of_query(place.warp % 2 * 64, 0) + place.lane / 4 * 4;
  const int row = line_pair + product_place_of_row(place.row(part, 0) - place.lane % 4 * 4, 0) + place.lane / 4 * 2;
#pragma unroll 1
  for (int w = from; w < to; w += kProductWords) {
    const std::uint32_t* const qs = queries + w / 2 * kLinePair + query;
    const std::uint32_t* const ts = rows + w / 2 * kLinePair + row;
    uint4 a[kPairQueries / 2];
#pragma unroll
    for (int i = 0; i < kPairQueries / 2; ++i) a[i] = *reinterpret_cast<const uint4*>(qs + i * 32);
#pragma unroll
    for (int j = 0; j < 2 * kQuads; ++j) {
      const uint2 b = *reinterpret_cast<const uint2*>(ts + j * 16);
#pragma unroll
      for (int i = 0; i < kPairQueries / 2; ++i) {
        multiply_add(sums[2 * i][2 * j], sums[2 * i][2 * j + 1], sums[2 * i + 1][2 * j], sums[2 * i + 1][2 * j + 1],
                     a[i].x, a[i].y, a[i].z, a[i].w, b.x, b.y);
      }
    }
  }
}

/// Converts whole numbers below 2^23 exactly. Those of rows that the scan must not see become huge. This takes two
/// instructions at full rate, where a conversion runs at an eighth of it.
__device__ __forceinline__ float float_of(int sum) {
  return __int_as_float(sum | 0x4b000000) - 8388608.0F;
}

template <int kQuads, bool kDivides>
struct BytePairs {
  using Place = PairPlace<kQuads>;
  // Keys from here on belong to rows that the scan must not see. A key is a whole number, or the bits of a quotient (at
  // most 2^23).
  static constexpr int kNeverKey = kDivides ? 0x4b000000 : kByteNever / 2;
  IntSums<kQuads> sums;
  int divisors[kDivides ? kPairQueries : 1][Place::kRows];

  __device__ void start(const std::uint32_t* starts, const Place& place, int part) {
#pragma unroll
    for (int j = 0; j < Place::kRows; ++j) {
      const int start = static_cast<int>(starts[place.row(part, j)]);
#pragma unroll
      for (int i = 0; i < kPairQueries; ++i) {
        sums[i][j] = start;
        if constexpr (kDivides) divisors[i][j] = 0;
      }
    }
  }
  __device__ int divisor(int i, int j) const { return kDivides ? divisors[kDivides ? i : 0][j] : 0; }

  /// Copies the sums of a query, then its divisors.
  __device__ void copy(int i, std::uint32_t (&words)[8]) const {
#pragma unroll
    for (int j = 0; j < Place::kRows; ++j) {
      words[j] = static_cast<std::uint32_t>(sums[i][j]);
      if constexpr (kDivides) words[Place::kRows + j] = static_cast<std::uint32_t>(divisors[i][j]);
    }
  }
  __device__ static Entry entry_of(std::uint32_t sum, std::uint32_t divisor) {
    return {float_of(static_cast<int>(sum)), kDivides ? float_of(static_cast<int>(divisor)) : 0.0F, 0};
  }
  __device__ static int key_of(std::uint32_t sum, std::uint32_t divisor, float alpha) {
    if constexpr (!kDivides) return static_cast<int>(sum);
    const Entry entry = entry_of(sum, divisor);
    return __float_as_int(excess_of({alpha, 0.0F}, entry.sum, entry.divisor));
  }

  __device__ int key(int i, int j, float alpha) const {
    return key_of(static_cast<std::uint32_t>(sums[i][j]), static_cast<std::uint32_t>(divisor(i, j)), alpha);
  }
  __device__ static int limit(float beta) { return kDivides ? __float_as_int(beta) : __float2int_rd(beta); }
  __device__ int score_key(int i, int j) const {
    return kDivides ? __float_as_int(score_of<true>(float_of(sums[i][j]), float_of(divisor(i, j)))) : sums[i][j];
  }
  __device__ static float score(int key) { return kDivides ? __int_as_float(key) : static_cast<float>(key); }
};

/// Products come first, then parts of the divisor, then differences.
template <bool kDivided>
struct ByteWork {
  static constexpr bool kDivides = kDivided;
  static constexpr int kQuads = kDivides ? 1 : 2;
  using Place = PairPlace<kQuads>;
  using Pairs = BytePairs<kQuads, kDivides>;

  ByteScan scan;
  Pool pool{};

  __device__ PairImages images() const {
    return {scan.queries, scan.train, reinterpret_cast<const std::uint32_t*>(scan.starts), scan.n_lines()};
  }
  __device__ int n_products() const { return scan.product_words + scan.divisor_words; }
  __device__ void add(const Panel& panel, const std::uint32_t* queries, const std::uint32_t* rows, const Place& place,
                      int part, Pairs& pairs) const {
    // Where each kind of word ends, in lines of the panel.
    const int products = max(0, min(panel.n, scan.product_words - panel.first));
    const int parts = max(0, min(panel.n, panel.products));
    const int differences = min(panel.n, n_products() + scan.difference_words - panel.first);
    add_products<kQuads>(queries, rows, 0, products, place, part, pairs.sums);
    if constexpr (kDivides) add_products<kQuads>(queries, rows, products, parts, place, part, pairs.divisors);
    add_differences<kQuads>(queries, rows, parts, differences, place, part, pairs.sums);
  }
};

template <template <int, bool> class Sink, class Job>
void launch_bytes(const ByteScan& scan, const Job& job, cudaStream_t stream) {
  if (scan.divides) {
    launch_pairs_of<Sink>(ByteWork<true>{scan}, scan.n_lines(), job, stream);
  } else {
    launch_pairs_of<Sink>(ByteWork<false>{scan}, scan.n_lines(), job, stream);
  }
}

}  // namespace stope::knn::cuda
