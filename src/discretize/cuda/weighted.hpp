// Best cuts of sorted columns of rows with weights, by any criterion, a block of threads a column.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/sorted_columns.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

/// All pointers point to the GPU's memory.
struct WeightedJob {
  SearchedColumns columns;
  std::int64_t n_rows;
  cuda_abi::WeightedCut* cuts;  ///< of each column
};

class WeightedCuts {
 public:
  explicit WeightedCuts(const cuda_abi::Decisions& decisions);

  /// Searches columns in a stream that all their sorts have passed; returns when their cuts are found. Returns the
  /// seconds that the GPU worked.
  double find(const SortedColumns& sorted, const SearchedColumns& columns, cuda_abi::WeightedCut* cuts,
              const stope::cuda::Stream& stream);

 private:
  std::int64_t n_rows_;
  stope::cuda::DeviceBuffer<cuda_abi::WeightedCut> cuts_;
  stope::cuda::Stopwatch watch_;
};

}  // namespace stope::discretize::cuda
