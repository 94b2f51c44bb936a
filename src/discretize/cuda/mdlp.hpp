// All cuts of columns by MDLP. Columns are sorted as they come, and then cut all together, a block of threads each.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/job.hpp"
#include "discretize/cuda/long_sorter.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

/// All pointers point to the GPU's memory.
struct MdlpJob {
  LongOrders orders;
  const std::uint32_t* n_missing;  ///< of each column: values that come first in its order
  std::int64_t n_rows;
  int n_classes;
  Gains gains;
  std::int32_t* n_cuts;      ///< of each column, or kUndecided
  cuda_abi::SetCut* cuts;    ///< room for `most`; those that nobody writes have a column below 0
  std::uint32_t* n_written;  ///< cuts that columns asked room for; it may be more than `most`
  std::int64_t most;
};

class Mdlp {
 public:
  /// It takes 9 bytes per value of decisions.most_sorted columns, room for their cuts and, for more than kShortRows
  /// rows, the memory of a sort of `most_columns`.
  Mdlp(const cuda_abi::Decisions& decisions, std::int64_t most_columns);

  /// Queues the sort of a piece. T: float, double.
  template <class T>
  void sort(const Columns<T>& columns, const stope::cuda::Stream& stream);
  /// Cuts the columns that were sorted, in a stream that all sorts have passed; returns when they are cut. Returns the
  /// seconds that the GPU worked.
  double cut(const Gains& gains, std::int32_t* n_cuts, const cuda_abi::SetCut** cuts, std::int64_t* n,
             const stope::cuda::Stream& stream);

 private:
  std::int64_t n_rows_, n_sorted_ = 0;
  int n_classes_;
  LongSorter sorter_;
  OrdersMemory orders_;
  stope::cuda::DeviceBuffer<std::uint32_t> n_missing_;
  stope::cuda::DeviceBuffer<std::int32_t> n_cuts_;  ///< of each column, and how many are written
  stope::cuda::PinnedBuffer<std::int32_t> host_n_cuts_;
  stope::cuda::DeviceBuffer<cuda_abi::SetCut> cuts_;
  stope::cuda::PinnedBuffer<cuda_abi::SetCut> host_cuts_;
  stope::cuda::Event sorted_;
  stope::cuda::Stopwatch watch_;
};

}  // namespace stope::discretize::cuda
