// The kernel of best cuts with weights (weighted.hpp): a block searches a column.
#pragma once

#include <cstdint>

#include "discretize/cuda/column_search.cuh"
#include "discretize/cuda/weighted.hpp"

namespace stope::discretize::cuda {

/// A block takes a column, in the shape of SearchShape.
template <class Worth>
__global__ void __launch_bounds__(kMostSearchThreads) weighted_kernel(const __grid_constant__ WeightedJob job) {
  using Search = ColumnSearch<Worth, true>;
  extern __shared__ unsigned long long counters[];
  __shared__ SearchMemory<typename Worth::Key> memory;
  const std::int64_t number = blockIdx.x;
  Search search(job.columns, number, counters, memory);
  const typename Search::Best best = search.best_cut({0, static_cast<std::uint32_t>(job.n_rows)});
  if (threadIdx.x != 0) return;
  cuda_abi::WeightedCut cut{};
  if (best.key != 0) {
    const std::uint32_t* const rows = job.columns.orders.rows + number * job.columns.orders.stride;
    cut.low_row = rows[best.at];
    cut.high_row = rows[best.at + 1];
    cut.worth = static_cast<std::uint64_t>(best.key);
    if constexpr (sizeof best.key == 16) cut.high_worth = static_cast<std::uint64_t>(best.key >> 64);
  }
  job.cuts[number] = cut;
}

}  // namespace stope::discretize::cuda
