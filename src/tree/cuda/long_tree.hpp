// Trees of more than 1024 rows on a GPU: every attribute's rows are sorted once and partitioned stably from level to
// level, as on the processor (docs/adr/0014, 0016). A level's kernels: count, carry, score, choose, mark; then, once
// the host has numbered the children, move.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda {

/// A warp goes through so many positions of a column.
inline constexpr std::int64_t kPieceRows = 1024;
inline constexpr int kTilePieces = 8;  // of a block

/// The open nodes' rows in the order of each column's values, node after node. Ranks tell values of a column apart;
/// nothing else is known of them.
struct LongOrders {
  std::uint32_t* ranks;   ///< [column][position]
  std::uint32_t* rows;    ///< [column][position]
  std::uint8_t* classes;  ///< [column][position]
  std::int64_t stride;    ///< from a column to the next
};

/// The best split of a node so far: the highest W, of equal ones the lowest attribute, then the lowest position.
struct LongBest {
  unsigned long long w;        ///< 0: there is none
  unsigned long long highest;  ///< W of what has been offered
  std::uint32_t attribute;
  std::uint32_t position;  ///< the last of the rows that move: those up to it go left; of a symbolic column its run
                           ///< goes right
  std::uint32_t lock, unused;
};

inline constexpr std::uint32_t kNoAttribute = 0xffffffffU;

/// Where the rows of a node's children go. kNowhere: that child is a leaf.
struct LongMove {
  std::uint32_t begin;          ///< of the node
  std::uint32_t rights_before;  ///< rows of nodes in front of it that go right
  std::uint32_t left_to, right_to;
};
inline constexpr std::uint32_t kNowhere = 0xffffffffU;

/// A level, in the GPU's memory.
struct LongLevel {
  LongOrders orders;
  std::int64_t n_columns, n_rows, n_nodes, n_pieces,
      n_tiles;  ///< rows: those of open nodes; of a column: pieces, tiles
  int n_classes, min_samples_leaf;
  std::int64_t min_w;
  const std::uint8_t* symbolic;    ///< of each column
  const std::int32_t* attributes;  ///< number of each column
  const std::int32_t* columns;     ///< of each attribute
  const std::uint32_t* begins;     ///< of each node, and n_rows
  const std::uint32_t* totals;     ///< [node][class]
  std::uint32_t* first_nodes;      ///< the node of every 32nd position
  std::uint32_t* counts;           ///< [column][class][piece]
  std::uint8_t* breaks;            ///< [column][piece]: whether a count begins anew in the piece
  LongBest* best;                  ///< of each node
  cuda_abi::Split* splits;         ///< of each node, but n_right and open
  std::uint32_t* right_counts;     ///< [node][class]
  std::uint32_t* sides;            ///< a bit a row of the table: it goes right
  std::int64_t n_table_rows;
};

/// From sorted orders to splits.
void find_splits(const LongLevel& level, cudaStream_t stream);

/// Of nodes whose split has an attribute: sides and right_counts.
void mark_rows(const LongLevel& level, cudaStream_t stream);

/// Rows to the children's places in `to`. `tiles`: room for 1 + n_columns * n_tiles words.
void move_rows(const LongLevel& level, const LongMove* moves, std::uint32_t* tiles, const LongOrders& to,
               cudaStream_t stream);

/// counts[row][piece] becomes the sum of what stands in front of the piece, from the last break on; breaks
/// [row / rows_of_breaks][piece], or null.
void carry_counts(std::uint32_t* counts, const std::uint8_t* breaks, std::int64_t n_pieces, std::int64_t n_counts,
                  int rows_of_breaks, cudaStream_t stream);

}  // namespace stope::tree::cuda
