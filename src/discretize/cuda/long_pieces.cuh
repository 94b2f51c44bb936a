// What the kernels over long columns share: a warp's piece of a column, and the nodes of its positions.
#pragma once

#include <cstdint>

#include "discretize/cuda/long_level.hpp"

namespace stope::discretize::cuda {

inline constexpr int kPieceWarps = kTilePieces, kPieceThreads = kPieceWarps * 32;
inline constexpr unsigned kAllLanes = 0xffffffffU;

/// Blocks of threads, if a warp takes one piece.
inline unsigned piece_blocks(std::int64_t n_columns, std::int64_t n_pieces) {
  return static_cast<unsigned>((n_columns * n_pieces + kPieceWarps - 1) / kPieceWarps);
}

struct LongPiece {
  std::int64_t column, number, begin, end;
  bool is_there;

  __device__ __forceinline__ LongPiece(std::int64_t column_of, std::int64_t number_of, std::int64_t n_rows)
      : column(column_of), number(number_of), begin(number_of * kPieceRows) {
    end = begin + kPieceRows < n_rows ? begin + kPieceRows : n_rows;
    is_there = begin < n_rows;
  }
  /// Warps take pieces in order, column after column.
  static __device__ __forceinline__ LongPiece of_warp(std::int64_t n_rows, std::int64_t n_columns,
                                                      std::int64_t n_pieces) {
    const std::int64_t warp = static_cast<std::int64_t>(blockIdx.x) * kPieceWarps + threadIdx.x / 32;
    LongPiece piece(warp / n_pieces, warp % n_pieces, n_rows);
    piece.is_there = piece.column < n_columns;
    return piece;
  }
  static __device__ __forceinline__ LongPiece of_warp(const LongLevel& level) {
    return of_warp(level.n_rows, level.n_columns, level.n_pieces);
  }
};

/// Returns the node that a position's row is in.
__device__ __forceinline__ std::uint32_t node_at(const LongLevel& level, std::int64_t position) {
  std::uint32_t node = level.first_nodes[position / 32];
  while (static_cast<std::int64_t>(level.begins[node + 1]) <= position) ++node;
  return node;
}

/// Whether this is a whole piece of a numeric column with rows of one node only. Where nodes are large, most pieces
/// are. Its node is then that of every row, and counts begin anew only at its front, if at all.
__device__ __forceinline__ bool is_plain(const LongLevel& level, const LongPiece& piece) {
  return level.symbolic[piece.column] == 0 && piece.end - piece.begin == kPieceRows &&
         node_at(level, piece.begin) == node_at(level, piece.end - 1);
}

/// 32 positions of a column, one per lane. Rows are counted from a break on. A numeric column has a break where a node
/// begins, a symbolic one where a value does.
struct Chunk {
  std::int64_t position;
  bool is_there;
  std::uint32_t node, n_node, left_in_node;  ///< rows of the node; those behind this one
  std::uint32_t rank;
  bool is_last;     ///< the last row of its value in the node
  int since;        ///< the lane of the last break; -1: it is before this chunk
  unsigned breaks;  ///< the lanes of breaks

  __device__ __forceinline__ Chunk(const LongLevel& level, const LongPiece& piece, std::int64_t first, bool symbolic) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    position = first + lane;
    is_there = position < piece.end;
    const std::int64_t at = is_there ? position : piece.end - 1;
    node = node_at(level, at);
    const std::uint32_t begin = level.begins[node], end = level.begins[node + 1];
    n_node = end - begin;
    left_in_node = end - 1 - static_cast<std::uint32_t>(at);
    const std::uint32_t* const ranks = level.orders.ranks + piece.column * level.orders.stride;
    rank = ranks[at];
    is_last = left_in_node == 0 || ranks[at + 1] != rank;
    const bool begins_node = static_cast<std::uint32_t>(at) == begin;
    const bool is_break = is_there && (begins_node || (symbolic && ranks[at - 1] != rank));
    breaks = __ballot_sync(kAllLanes, is_break);
    since = 31 - __clz(static_cast<int>(breaks & (0xffffffffU >> (31 - lane))));
  }
  /// Returns the lanes from the last break up to this one.
  __device__ __forceinline__ unsigned counted() const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return (0xffffffffU >> (31 - lane)) & (since < 0 ? 0xffffffffU : 0xffffffffU << since);
  }
};

}  // namespace stope::discretize::cuda
