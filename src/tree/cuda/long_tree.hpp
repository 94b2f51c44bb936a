// Trees of more than 1024 rows on a GPU: every attribute's rows are sorted once and partitioned stably from level to
// level, as on the processor (docs/adr/0014, 0016). A level's kernels: those of the search (discretize/cuda/
// long_level.hpp), choose, mark; then, once the host has numbered the children, move.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "discretize/cuda/long_level.hpp"
#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda {

/// Where the rows of a node's children go. kNowhere: that child is a leaf.
struct LongMove {
  std::uint32_t begin;          ///< of the node
  std::uint32_t rights_before;  ///< rows of nodes in front of it that go right
  std::uint32_t left_to, right_to;
};
inline constexpr std::uint32_t kNowhere = 0xffffffffU;

/// A level of open nodes, in the GPU's memory.
struct TreeLevel : discretize::cuda::LongLevel {
  std::int64_t n_tiles;  ///< of a column
  std::int64_t min_w;
  const std::int32_t* columns;  ///< of each attribute
  cuda_abi::Split* splits;      ///< of each node, but n_right and open
  std::uint32_t* right_counts;  ///< [node][class]
  std::uint32_t* sides;         ///< a bit a row of the table: it goes right
  std::int64_t n_table_rows;
};

/// From sorted orders to splits.
void find_splits(const TreeLevel& level, cudaStream_t stream);

/// Writes sides and right_counts of nodes whose split has an attribute.
void mark_rows(const TreeLevel& level, cudaStream_t stream);

/// Rows to the children's places in `to`. `tiles`: room for 1 + n_columns * n_tiles words.
void move_rows(const TreeLevel& level, const LongMove* moves, std::uint32_t* tiles,
               const discretize::cuda::LongOrders& to, cudaStream_t stream);

}  // namespace stope::tree::cuda
