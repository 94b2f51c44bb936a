// The kernel of md-global (global.hpp). Along a column's order it adds up the pairs that each row's move to the left
// separates within its block. How many rows of the block, and of the cell, have moved already is counted in shared
// memory, and within 32 rows by comparing them.
#pragma once

#include <cstdint>

#include "discretize/cuda/global.hpp"
#include "discretize/score.hpp"

namespace stope::discretize::cuda {

inline constexpr int kMostGlobalWarps = 8;
inline constexpr std::int64_t kGlobalBytes = std::int64_t{32} << 10;  ///< a block's counters; 16 bits each, or 64

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
  return {static_cast<std::uint64_t>(key >> (kRowBits + kColumnBits)), 0,
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

/// The sum of the lanes up to this one.
__device__ __forceinline__ Int128 sum_up_to_lane(Int128 sum) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned apart = 1; apart < 32; apart *= 2) {
    const auto low = __shfl_up_sync(0xffffffffU, static_cast<unsigned long long>(sum), apart);
    const auto high = __shfl_up_sync(0xffffffffU, static_cast<unsigned long long>(sum >> 64), apart);
    if (lane >= apart) sum += static_cast<Int128>(high) << 64 | static_cast<Int128>(low);
  }
  return sum;
}
__device__ __forceinline__ Int128 of_lane(Int128 value, int lane) {
  const auto low = __shfl_sync(0xffffffffU, static_cast<unsigned long long>(value), lane);
  const auto high = __shfl_sync(0xffffffffU, static_cast<unsigned long long>(value >> 64), lane);
  return static_cast<Int128>(high) << 64 | static_cast<Int128>(low);
}

/// The same with weights: the best cut of every column. Pairs are below 2^124.
__global__ void __launch_bounds__(32 * kMostGlobalWarps) weighted_global_kernel(const __grid_constant__ GlobalJob job) {
  extern __shared__ unsigned long long moved_weight[];
  constexpr unsigned kAll = 0xffffffffU;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned warp = threadIdx.x / 32;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + warp;
  if (column >= job.n_columns) return;
  const int n_counters = job.n_blocks + job.n_cells;
  unsigned long long* const of_blocks = moved_weight + static_cast<int>(warp) * n_counters;
  unsigned long long* const of_cells = of_blocks + job.n_blocks;
  for (int i = lane; i < n_counters; i += 32) of_blocks[i] = 0;
  __syncwarp();
  const std::uint32_t* const rows = job.orders.rows + column * job.orders.stride;
  const std::uint32_t* const ranks = job.orders.ranks + column * job.orders.stride;
  Int128 pairs = 0, best = 0;
  int best_at = 0;
  for (int first = 0; first + 1 < job.n_rows; first += 32) {
    const int at = first + lane;
    const bool is_there = at < job.n_rows;
    const std::uint32_t number = is_there ? rows[at] : 0;
    const cuda_abi::BlockRow row = job.rows[number];
    const long long weight = is_there ? job.weights[number] : 0;
    const unsigned same_block = __match_any_sync(kAll, is_there ? static_cast<unsigned>(row.block) : kAll);
    const unsigned same_cell = __match_any_sync(kAll, is_there ? static_cast<unsigned>(row.cell) : kAll);
    long long block = static_cast<long long>(of_blocks[row.block]), cell = static_cast<long long>(of_cells[row.cell]);
    for (int other = 0; other < 31; ++other) {
      const long long theirs = __shfl_sync(kAll, weight, other);
      if (other >= lane) continue;
      if ((same_block >> other & 1) != 0) block += theirs;
      if ((same_cell >> other & 1) != 0) cell += theirs;
    }
    const Int128 gain =
        is_there ? static_cast<Int128>(weight) * (job.others[number] - 2 * static_cast<Int128>(block - cell)) : 0;
    pairs += sum_up_to_lane(gain);
    if (at + 1 < job.n_rows && ranks[at] != ranks[at + 1] &&
        pairs > best) {  // places ascend: if equal, the first stays
      best = pairs;
      best_at = at;
    }
    pairs = of_lane(pairs, 31);
    __syncwarp();  // all lanes have read the counters
    if (is_there) {
      atomicAdd(of_blocks + row.block, static_cast<unsigned long long>(weight));
      atomicAdd(of_cells + row.cell, static_cast<unsigned long long>(weight));
    }
    __syncwarp();
  }
  for (int other = 0; other < 32; ++other) {
    const Int128 theirs = of_lane(best, other);
    const int their_place = __shfl_sync(kAll, best_at, other);
    if (lane == 0 && (theirs > best || (theirs == best && their_place < best_at))) {
      best = theirs;
      best_at = their_place;
    }
  }
  if (lane != 0) return;
  job.best_of_column[column] = {static_cast<std::uint64_t>(best), static_cast<std::uint64_t>(best >> 64), column,
                                static_cast<std::int64_t>(rows[best_at])};
}

__device__ __forceinline__ bool beats(const cuda_abi::GlobalBest& a, const cuda_abi::GlobalBest& b) {
  if (a.high_pairs != b.high_pairs) return a.high_pairs > b.high_pairs;
  return a.pairs > b.pairs || (a.pairs == b.pairs && a.column < b.column);
}

/// One block: finds the best of all columns, and writes it behind them.
__global__ void __launch_bounds__(32 * kMostGlobalWarps) best_column_kernel(const __grid_constant__ GlobalJob job) {
  __shared__ cuda_abi::GlobalBest best[32 * kMostGlobalWarps];
  cuda_abi::GlobalBest mine{0, 0, cuda_abi::kMostGlobalColumns, 0};
  for (std::int64_t column = threadIdx.x; column < job.n_columns; column += blockDim.x) {
    if (beats(job.best_of_column[column], mine)) mine = job.best_of_column[column];
  }
  best[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = 16 * kMostGlobalWarps; half >= 1; half /= 2) {
    if (threadIdx.x < half && beats(best[threadIdx.x + half], best[threadIdx.x])) {
      best[threadIdx.x] = best[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) job.best_of_column[job.n_columns] = best[0];
}

}  // namespace stope::discretize::cuda
