// All cuts of sorted columns by MDLP, a block of threads each.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/sorted_columns.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

/// All pointers point to the GPU's memory.
struct MdlpJob {
  SearchedColumns columns;
  const std::uint32_t* n_missing;  ///< of each column: values that come first in its order
  std::int64_t n_rows;
  std::int32_t* n_cuts;      ///< of each column, or kUndecided
  cuda_abi::SetCut* cuts;    ///< room for `most`; those that nobody writes have a column below 0
  std::uint32_t* n_written;  ///< cuts that columns asked room for; it may be more than `most`
  std::int64_t most;
};

class Mdlp {
 public:
  explicit Mdlp(const cuda_abi::Decisions& decisions);

  /// Cuts columns in a stream that all their sorts have passed; returns when they are cut. Returns the seconds that the
  /// GPU worked.
  double cut(const SortedColumns& sorted, const SearchedColumns& columns, std::int32_t* n_cuts,
             const cuda_abi::SetCut** cuts, std::int64_t* n, const stope::cuda::Stream& stream);

 private:
  std::int64_t n_rows_;
  stope::cuda::DeviceBuffer<std::int32_t> n_cuts_;  ///< of each column, and how many are written
  stope::cuda::PinnedBuffer<std::int32_t> host_n_cuts_;
  stope::cuda::DeviceBuffer<cuda_abi::SetCut> cuts_;
  stope::cuda::PinnedBuffer<cuda_abi::SetCut> host_cuts_;
  stope::cuda::Stopwatch watch_;
};

}  // namespace stope::discretize::cuda
