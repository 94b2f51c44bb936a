// Best cuts of columns of more than kShortRows rows. Rows are sorted by each column's values, then searched like the
// level of a tree with one node that holds them all.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/job.hpp"
#include "discretize/cuda/long_level.hpp"
#include "discretize/cuda/long_sorter.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

class LongCuts {
 public:
  /// For pieces of up to most_columns columns. It takes the sort's memory and 9 bytes per value.
  LongCuts(const cuda_abi::Decisions& decisions, std::int64_t most_columns);

  /// Makes the stream wait until the last piece is done, because the next one takes its memory.
  void hold(const stope::cuda::Stream& stream) const { done_.hold(stream); }
  /// The rows of the last piece in order, until the next one is sorted.
  LongOrders orders() const { return orders_.there(); }
  /// Queues the search. T: float, double.
  template <class T>
  void find(const Columns<T>& columns, const CutsThere& cuts, const stope::cuda::Stream& stream);

 private:
  LongSorter sorter_;
  OrdersMemory orders_;
  stope::cuda::DeviceBuffer<std::uint8_t> symbolic_, breaks_;
  stope::cuda::DeviceBuffer<std::int32_t> attributes_;
  stope::cuda::DeviceBuffer<std::uint32_t> begins_, totals_, first_nodes_, counts_;
  stope::cuda::DeviceBuffer<LongBest> best_;
  stope::cuda::DeviceBuffer<NodeGains> node_gains_;
  stope::cuda::Event done_;
};

}  // namespace stope::discretize::cuda
