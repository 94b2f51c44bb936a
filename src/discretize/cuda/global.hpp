// The best next cut of md-global (discretize/md_global.cpp) among sorted columns, a warp a column.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/sorted_columns.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

/// All pointers point to the GPU's memory.
struct GlobalJob {
  LongOrders orders;
  std::int64_t n_columns;
  int n_rows, n_blocks, n_cells;
  const cuda_abi::BlockRow* rows;
  const std::int64_t *weights, *others;  ///< of each row; null without weights
  unsigned long long* best;              ///< worth and place of the best cut so far (global.cuh); 0: there is none
  cuda_abi::GlobalBest* best_of_column;  ///< with weights: `best` is not used then
};

class GlobalCuts {
 public:
  explicit GlobalCuts(const cuda_abi::Decisions& decisions);

  /// Looks for the next cut in a stream that all sorts have passed; returns when it is found. `weights`: of each row,
  /// in the GPU's memory, or null. Returns the seconds that the GPU worked.
  double best(const SortedColumns& columns, const std::int64_t* weights, const cuda_abi::RowBlocks& blocks,
              cuda_abi::GlobalBest* best, const stope::cuda::Stream& stream);

 private:
  std::int64_t n_rows_;
  stope::cuda::DeviceBuffer<cuda_abi::BlockRow> rows_;
  stope::cuda::PinnedBuffer<cuda_abi::BlockRow> host_rows_;
  stope::cuda::DeviceBuffer<std::int64_t> others_;  ///< with weights only
  stope::cuda::PinnedBuffer<std::int64_t> host_others_;
  stope::cuda::DeviceBuffer<unsigned long long> best_;
  stope::cuda::PinnedBuffer<unsigned long long> host_best_;
  stope::cuda::DeviceBuffer<cuda_abi::GlobalBest> best_of_column_;  ///< with weights only; behind them the best of all
  stope::cuda::PinnedBuffer<cuda_abi::GlobalBest> host_best_of_all_;
  stope::cuda::Stopwatch watch_;
};

}  // namespace stope::discretize::cuda
