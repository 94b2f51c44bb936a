// Trees of more than 1024 rows on a GPU. Every attribute's rows are sorted once and partitioned stably from level to
// level, as on the CPU (docs/adr/0014, 0016). A level has the kernels of the search (discretize/cuda/long_level.hpp),
// choose, and mark; once the host has numbered the children, move.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "discretize/cuda/long_level.hpp"
#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda {

/// Where the rows of a node's children go. kNowhere: that child is a leaf.
struct LongMove {
  std::uint32_t begin;          ///< where the node begins
  std::uint32_t rights_before;  ///< rows that go right, of all nodes in front of it
  std::uint32_t left_to, right_to;
};
inline constexpr std::uint32_t kNowhere = 0xffffffffU;

/// A level of open nodes, in the GPU's memory.
struct TreeLevel : discretize::cuda::LongLevel {
  std::int64_t n_tiles;  ///< tiles of a column
  std::int64_t min_w;
  const std::int32_t* columns;  ///< column of each attribute
  cuda_abi::Split* splits;      ///< split of each node; n_right and open are not set
  std::uint32_t* right_counts;  ///< [node][class]
  std::uint32_t* sides;         ///< one bit per row of the table: it goes right
  std::int64_t n_table_rows;
};

/// Finds the splits from the sorted orders.
void find_splits(const TreeLevel& level, cudaStream_t stream);

/// Writes sides and right_counts for nodes whose split has an attribute.
void mark_rows(const TreeLevel& level, cudaStream_t stream);

/// Moves rows to the children's places in `to`. `tiles`: room for 1 + n_columns * n_tiles words.
void move_rows(const TreeLevel& level, const LongMove* moves, std::uint32_t* tiles,
               const discretize::cuda::LongOrders& to, cudaStream_t stream);

}  // namespace stope::tree::cuda
