// The kernel of md-global (global.hpp). Along a column's order it adds up the pairs that each row's move to the left
// separates within its block. How many rows of the block, and of the cell, have moved already is counted in shared
// memory, and within 32 rows by comparing them.
#pragma once

#include <cstdint>

#include "discretize/cuda/global.hpp"

namespace stope::discretize::cuda {

inline constexpr int kMostGlobalWarps = 8;
inline constexpr std::int64_t kGlobalCounters = 16384;  ///< in a block's shared memory; each has 16 bits

/// A cut as one number, so that the highest is the best: the most pairs, then the lowest column. Below lies the row in
/// front of the cut.
inline constexpr int kRowBits = 13, kColumnBits = 25;
static_assert(std::int64_t{1} << kRowBits == cuda_abi::kMostGlobalRows);
static_assert(std::int64_t{1} << kColumnBits == cuda_abi::kMostGlobalColumns);

__host__ __device__ constexpr unsigned long long global_key(std::uint32_t pairs, std::int64_t column,
                                                            std::uint32_t row) {
  const auto behind = static_cast<unsigned long long>(cuda_abi::kMostGlobalColumns - 1 - column);
  return static_cast<unsigned long long>(pairs) << (kRowBits + kColumnBits) | behind << kRowBits | row;
}
constexpr cuda_abi::GlobalBest global_best_of(unsigned long long key) {
  constexpr unsigned long long kRows = cuda_abi::kMostGlobalRows - 1, kColumns = cuda_abi::kMostGlobalColumns - 1;
  return {static_cast<std::int64_t>(key >> (kRowBits + kColumnBits)),
          static_cast<std::int64_t>(kColumns - (key >> kRowBits & kColumns)), static_cast<std::int64_t>(key & kRows)};
}

/// Whole warps. Shared memory: a counter for each warp's blocks and cells.
__global__ void __launch_bounds__(32 * kMostGlobalWarps) global_kernel(const __grid_constant__ GlobalJob job) {
  extern __shared__ std::uint16_t moved[];
  constexpr unsigned kWarp = 0xffffffffU;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned warp = threadIdx.x / 32, below = (1U << lane) - 1;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + warp;
  if (column >= job.n_columns) return;
  const int n_counters = job.n_blocks + job.n_cells;
  std::uint16_t* const of_blocks = moved + static_cast<int>(warp) * n_counters;
  std::uint16_t* const of_cells = of_blocks + job.n_blocks;
  for (int i = lane; i < n_counters; i += 32) of_blocks[i] = 0;
  __syncwarp();
  const std::uint32_t* const rows = job.orders.rows + column * job.orders.stride;
  const std::uint32_t* const ranks = job.orders.ranks + column * job.orders.stride;
  std::int32_t pairs = 0, best = 0;  // below 2^25
  int best_at = 0;
  for (int first = 0; first + 1 < job.n_rows; first += 32) {
    const int at = first + lane;
    const bool is_there = at < job.n_rows;
    const cuda_abi::BlockRow row =
        is_there ? job.rows[rows[at]] : cuda_abi::BlockRow{cuda_abi::kNoBlock, cuda_abi::kNoBlock, 0};
    const unsigned same_block = __match_any_sync(kWarp, static_cast<unsigned>(row.block));
    const unsigned same_cell = __match_any_sync(kWarp, static_cast<unsigned>(row.cell));
    std::int32_t gain = 0;
    if (is_there) {
      const std::int32_t block = of_blocks[row.block] + __popc(same_block & below);
      const std::int32_t cell = of_cells[row.cell] + __popc(same_cell & below);
      gain = row.others - 2 * (block - cell);
    }
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const std::int32_t o = __shfl_up_sync(kWarp, gain, apart);
      if (lane >= apart) gain += o;
    }
    pairs += gain;
    if (at + 1 < job.n_rows && ranks[at] != ranks[at + 1] &&
        pairs > best) {  // places ascend: if equal, the first stays
      best = pairs;
      best_at = at;
    }
    pairs = __shfl_sync(kWarp, pairs, 31);
    __syncwarp();  // all lanes have read the counters
    if (is_there && lane == __ffs(static_cast<int>(same_block)) - 1) {
      of_blocks[row.block] = static_cast<std::uint16_t>(of_blocks[row.block] + __popc(same_block));
    }
    if (is_there && lane == __ffs(static_cast<int>(same_cell)) - 1) {
      of_cells[row.cell] = static_cast<std::uint16_t>(of_cells[row.cell] + __popc(same_cell));
    }
    __syncwarp();
  }
#pragma unroll
  for (int half = 16; half >= 1; half /= 2) {
    const std::int32_t other = __shfl_xor_sync(kWarp, best, half);
    const int other_at = __shfl_xor_sync(kWarp, best_at, half);
    if (other > best || (other == best && other_at < best_at)) {
      best = other;
      best_at = other_at;
    }
  }
  if (lane != 0 || best == 0) return;
  const unsigned long long key = global_key(static_cast<std::uint32_t>(best), column, rows[best_at]);
  if (key > *static_cast<volatile unsigned long long*>(job.best)) atomicMax(job.best, key);
}

}  // namespace stope::discretize::cuda
