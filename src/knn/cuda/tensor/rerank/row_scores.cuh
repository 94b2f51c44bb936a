// The scores of single rows: for a listed group of 4 rows only the best score is known.
//
// The matrix units compute them, 16 rows against one query that fills all of the 8 columns. Rows and query must agree
// on which column of an image meets which slot of an instruction, but any choice will do. A thread therefore loads 16
// bytes at a time and has what two instructions need. Every thread then holds scores, and no sum over threads is left.
// The error is that of the scan (docs/numerics/filter.md).
//
// Two bytes lie in the place of a half, and sums of bytes are whole numbers. A predicate of the instruction chooses
// between halves and bytes, so that one kernel serves both.
#pragma once

#include "knn/cuda/tensor/images/tile_layout.cuh"
#include "knn/cuda/tensor/rerank/rerank.hpp"
#include "knn/cuda/tensor/scan/scan.hpp"

namespace stope::knn::cuda {

inline constexpr int kScoredGroups = 8;  // groups that a warp takes at once: one row a lane

/// Computes c += a * b for 16 rows x 16 columns and 16 columns x 8 queries of halves, or 32 columns of bytes. Sums are
/// floats for halves, ints for bytes.
__device__ __forceinline__ void multiply_add_rows(unsigned (&c)[4], bool bytes, unsigned a0, unsigned a1, unsigned a2,
                                                  unsigned a3, unsigned b0, unsigned b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("{\n"
      ".reg .pred bytes;\n"
      "setp.ne.b32 bytes, %10, 0;\n"
      "@!bytes mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      "@bytes mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      "}\n"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(static_cast<unsigned>(bytes)));
#else  // Turing, which has no scan of bytes
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a0), "r"(a1), "r"(b0));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a2), "r"(a3), "r"(b1));
#endif
}

__device__ __forceinline__ uint4 load_piece(const __half* piece) {
  return *reinterpret_cast<const uint4*>(piece);
}

/// Multiplies the lane's part of a piece of 8 columns, for the four rows of its group. The first 16 rows of an
/// instruction are rows 0 and 2 of the warp's 8 groups, the other 16 are rows 1 and 3.
__device__ __forceinline__ void multiply_add_pieces(unsigned (&scores)[2][4], bool bytes, const uint4 (&rows)[4],
                                                    const uint4& query) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint4 &low = rows[i], &high = rows[i + 2];
    multiply_add_rows(scores[i], bytes, low.x, high.x, low.y, high.y, query.x, query.y);
    multiply_add_rows(scores[i], bytes, low.z, high.z, low.w, high.w, query.z, query.w);
  }
}

/// Computes scores[4 * g + i] of row i of group g as the scan does, for up to kScoredGroups groups, by one warp. A row
/// that is always listed gets kAlways, and a row that does not count gets kNever. groups[g] is a group's first row.
template <bool kNarrow>
__device__ __forceinline__ void score_groups(const RerankJob& job, std::int64_t query, const std::int32_t* groups,
                                             int n_groups, float* scores) {
  // Four lanes take a group, and each has its part of every 4 pieces.
  const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / 4, part = lane % 4;
  const int width = job.bounds.width;
  const auto first = static_cast<std::uint32_t>(groups[group < n_groups ? group : 0]);
  const __half* image = job.query_images + query * width + part * 8;
  // A group's rows (group_row) lie in one tile, and `first` is even. So the swizzle of the next row differs only in its
  // lowest bit. Rows 8 further have the same swizzle, and pieces that differ by 4 are a fixed offset apart.
  const __half* even = job.train_images + tile_place(first, part * 8, width);
  constexpr int kPitch = kNarrow ? 32 : 64, kFar = 8 * kPitch;
  const int swizzled = part ^ static_cast<int>(first);
  const __half* odd = even + kPitch + (kNarrow ? 0 : (swizzled & 1) != 0 ? -8 : 8);
  // The lane has the scores of all four rows and writes one of them.
  const std::int32_t own = group_row(static_cast<std::int32_t>(first), part);
  const float start = job.starts == nullptr ? 0.0F : job.starts[own];
  const bool bytes = job.bounds.bytes;

  unsigned sums[2][4] = {};
  if constexpr (kNarrow) {
#pragma unroll 1
    for (int column = 0; column < width; column += 32) {
      const uint4 pieces[4] = {load_piece(even), load_piece(odd), load_piece(even + kFar), load_piece(odd + kFar)};
      multiply_add_pieces(sums, bytes, pieces, load_piece(image + column));
      even += kTileRows * 32;
      odd += kTileRows * 32;
    }
  } else {
    const int other = (first & 4) != 0 ? -32 : 32;
#pragma unroll 1
    for (int column = 0; column < width; column += 64) {
      const uint4 pieces[4] = {load_piece(even), load_piece(odd), load_piece(even + kFar), load_piece(odd + kFar)};
      const uint4 others[4] = {load_piece(even + other), load_piece(odd + other), load_piece(even + other + kFar),
                               load_piece(odd + other + kFar)};
      multiply_add_pieces(sums, bytes, pieces, load_piece(image + column));
      multiply_add_pieces(sums, bytes, others, load_piece(image + column + 32));
      even += kTileRows * 64;
      odd += kTileRows * 64;
    }
  }

  const unsigned sum = part < 2 ? (part == 0 ? sums[0][0] : sums[1][0]) : (part == 2 ? sums[0][2] : sums[1][2]);
  const float score = bytes ? score_of_bytes(static_cast<int>(sum) + __float_as_int(start))
                            : fminf(__uint_as_float(sum) + start, kAlways);
  bool counts = own < job.n_rows;
  if (job.self >= 0 && counts) counts = (job.order == nullptr ? own : job.order[own]) != job.self + query;
  if (group < n_groups) scores[lane] = counts ? score : kNever;
}

}  // namespace stope::knn::cuda
