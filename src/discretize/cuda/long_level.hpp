// Rows of long columns in the order of each column's values, node after node, and the best split of each node. A tree
// needs this for a level; for best cuts of columns, all rows are one node. Kernels: count, carry, score.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "discretize/cuda/gains.hpp"
#include "discretize/sort_memory.hpp"

namespace stope::discretize::cuda {

using discretize::kPieceRows;
inline constexpr int kTilePieces = 8;  // pieces of a block

inline constexpr std::int64_t pieces_of(std::int64_t n_rows) {
  return (n_rows + kPieceRows - 1) / kPieceRows;
}

/// The rows of nodes in the order of each column's values, node after node. Ranks tell the values of a column apart;
/// the values themselves are not here.
struct LongOrders {
  std::uint32_t* ranks;   ///< [column][position]
  std::uint32_t* rows;    ///< [column][position]
  std::uint8_t* classes;  ///< [column][position]
  std::int64_t stride;    ///< from a column to the next, a multiple of 32
};

/// The best split so far: the highest W, or the bits of the highest gain; if equal, the lowest attribute, then the
/// lowest position.
struct LongBest {
  unsigned long long w;        ///< 0: there is none
  unsigned long long highest;  ///< the highest W that was offered
  std::uint32_t attribute;
  std::uint32_t position;  ///< the last of the rows that move: those up to it go left; of a symbolic column its run
                           ///< goes right
  std::uint32_t lock, unused;
};
inline constexpr std::uint32_t kNoAttribute = 0xffffffffU;

/// All pointers point to the GPU's memory.
struct LongLevel {
  LongOrders orders;
  std::int64_t n_columns, n_rows, n_nodes, n_pieces;  ///< n_rows: of all nodes together; n_pieces: of a column
  int n_classes, min_samples_leaf;
  const std::uint8_t* symbolic;    ///< for each column, whether it holds codes
  const std::int32_t* attributes;  ///< attribute of each column
  const std::uint32_t* begins;     ///< where each node begins, and n_rows
  const std::uint32_t* totals;     ///< [node][class]
  std::uint32_t* first_nodes;      ///< the node of every 32nd position
  std::uint32_t* counts;           ///< [column][class][piece]
  std::uint8_t* breaks;            ///< [column][piece]: whether a count begins anew in the piece
  LongBest* best;                  ///< one per node; if columns are apart, one per column
  bool columns_apart;              ///< each column has a best of its own; then there is one node
  Gains gains;
  NodeGains* node_gains;  ///< one per node, except for pairs
};

/// Queues the search for the best splits.
void find_best(const LongLevel& level, cudaStream_t stream);

/// counts[row][piece] becomes the sum of the pieces in front of it, from the last break on. `breaks` is [row /
/// rows_of_breaks][piece], or null.
void carry_counts(std::uint32_t* counts, const std::uint8_t* breaks, std::int64_t n_pieces, std::int64_t n_counts,
                  int rows_of_breaks, cudaStream_t stream);

}  // namespace stope::discretize::cuda
