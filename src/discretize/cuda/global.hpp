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
  unsigned long long* best;  ///< worth and place of the best cut so far (global.cuh); 0: there is none
};

class GlobalCuts {
 public:
  explicit GlobalCuts(std::int64_t n_rows);

  /// Looks for the next cut in a stream that all sorts have passed; returns when it is found. Returns the seconds that
  /// the GPU worked.
  double best(const SortedColumns& columns, const cuda_abi::RowBlocks& blocks, cuda_abi::GlobalBest* best,
              const stope::cuda::Stream& stream);

 private:
  std::int64_t n_rows_;
  stope::cuda::DeviceBuffer<cuda_abi::BlockRow> rows_;
  stope::cuda::PinnedBuffer<cuda_abi::BlockRow> host_rows_;
  stope::cuda::DeviceBuffer<unsigned long long> best_;
  stope::cuda::PinnedBuffer<unsigned long long> host_best_;
  stope::cuda::Stopwatch watch_;
};

}  // namespace stope::discretize::cuda
