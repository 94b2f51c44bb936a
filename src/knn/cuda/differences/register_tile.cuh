// How a block of threads shares the pairs of a tile, and where the images of its rows lie.
//
// A tile is 128 queries x 128 training rows. A block of threads has eight warps, two by four. A warp has 64 queries x
// 32 rows (or half of these rows at a time), and a thread has eight queries x 4 * kQuads rows. Lanes are numbered like
// the accumulators of a matrix instruction m16n8: lane / 4 counts queries and lane % 4 counts rows. Sums and products
// then meet in one register.
#pragma once

#include "knn/cuda/differences/scan.hpp"

namespace stope::knn::cuda {

inline constexpr int kPairThreads = 256;
inline constexpr int kPairQueries = 8;  ///< queries of a thread

/// Images lie tile by tile, and within a tile line by line. A line has 128 rows: of one column in floats, or of one
/// word of four bytes.
__host__ __device__ constexpr std::int64_t pair_place(std::int64_t row, std::int64_t line, std::int64_t n_lines) {
  return (row / kPairTile * n_lines + line) * kPairTile + row % kPairTile;
}

// Lines of products (byte_layout.hpp) come in pairs of 256 words, in the order in which a thread hands them to a matrix
// instruction. It reads four words of a query pair at once, and two words of a training row. Neighbouring threads then
// read neighbouring words. `line` is 0 or 1.

/// Queries 2i and 2i + 1 have both words of the first line, then both of the second.
__host__ __device__ constexpr int product_place_of_query(int row, int line) {
  const int pair = row / 32 * 16 + row / 2 % 2 * 8 + row % 32 / 4;
  return pair * 4 + line * 2 + row % 2;
}
/// A training row has the word of the first line, then that of the second.
__host__ __device__ constexpr int product_place_of_row(int row, int line) {
  const int place = row / 16 * 16 + row / 2 % 2 * 8 + row % 16 / 4 * 2 + row % 2;
  return place * 2 + line;
}

template <int kQuads>
struct PairPlace {
  static_assert(kQuads == 1 || kQuads == 2);
  static constexpr int kRows = 4 * kQuads;   ///< rows of a thread in a part
  static constexpr int kParts = 2 / kQuads;  ///< parts of a tile's rows, one after the other
  static constexpr int kPartRows = kPairTile / kParts;
  static constexpr int kGroups = 16;

  int lane = static_cast<int>(threadIdx.x) % 32;
  int warp = static_cast<int>(threadIdx.x) / 32;
  int queries = warp % 2 * 64 + lane / 4 * 4;        ///< the thread's first query
  int rows = warp / 2 * 16 * kQuads + lane % 4 * 4;  ///< the thread's first row in a part
  int group = warp / 2 * 4 + lane % 4;               ///< group of the thread's rows: 0 ... 15

  __device__ static constexpr int step(int i, int far) { return i % 4 + i / 4 * far; }
  __device__ int query(int i) const { return queries + step(i, 32); }
  __device__ int row(int part, int j) const { return part * kPartRows + rows + step(j, 16); }
};

}  // namespace stope::knn::cuda
