// Launches of what a level of a tree needs besides its search.
#include "tree/cuda/long_tree.hpp"

#include "device/cuda/check.hpp"
#include "tree/cuda/long_move.cuh"

namespace stope::tree::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::check_launch;

unsigned blocks_of(std::int64_t n) {
  return static_cast<unsigned>((n + kPieceThreads - 1) / kPieceThreads);
}

}  // namespace

void find_splits(const TreeLevel& level, cudaStream_t stream) {
  find_best(level, stream);
  choose_kernel<<<blocks_of(level.n_nodes), kPieceThreads, 0, stream>>>(level);
  check_launch("choosing splits");
}

void mark_rows(const TreeLevel& level, cudaStream_t stream) {
  const auto n_counts = static_cast<std::size_t>(level.n_nodes * level.n_classes);
  check(cudaMemsetAsync(level.right_counts, 0, n_counts * sizeof(std::uint32_t), stream), "clearing counts");
  check(cudaMemsetAsync(level.sides, 0, static_cast<std::size_t>((level.n_table_rows + 31) / 32) * 4, stream),
        "clearing sides");
  mark_kernel<<<blocks_of(level.n_rows), kPieceThreads, 0, stream>>>(level);
  check_launch("marking rows");
}

void move_rows(const TreeLevel& level, const LongMove* moves, std::uint32_t* tiles, const LongOrders& to,
               cudaStream_t stream) {
  const std::int64_t n_tiles = level.n_columns * level.n_tiles;
  check(cudaMemsetAsync(tiles, 0, static_cast<std::size_t>(1 + n_tiles) * sizeof *tiles, stream), "clearing tiles");
  move_kernel<<<static_cast<unsigned>(n_tiles), kPieceThreads, 0, stream>>>(level, moves, tiles, to);
  check_launch("moving rows");
}

}  // namespace stope::tree::cuda
