// Columns that are sorted piece by piece, and stay sorted until a search of all of them (mdlp.hpp, global.hpp).
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/gains.hpp"
#include "discretize/cuda/job.hpp"
#include "discretize/cuda/long_sorter.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

/// What a search reads of sorted columns. All pointers point to the GPU's memory.
struct SearchedColumns {
  LongOrders orders;
  const std::int64_t* weights;  ///< of each row, in kWeightUnit; null: 1 each
  int n_classes;
  Gains gains;
};

class SortedColumns {
 public:
  /// It takes 9 bytes per value of decisions.most_sorted columns and, for more than kShortRows rows, the memory of a
  /// sort of `most_columns`.
  SortedColumns(const cuda_abi::Decisions& decisions, std::int64_t most_columns);

  /// Queues the sort of a piece. T: float, double.
  template <class T>
  void sort(const Columns<T>& columns, const stope::cuda::Stream& stream);

  std::int64_t n() const { return n_; }
  LongOrders orders() const { return orders_.there(); }
  /// Values of each column that are missing, in the GPU's memory. They come first in its order.
  const std::uint32_t* n_missing() const { return n_missing_.data(); }
  /// The next piece is the first one again.
  void forget() { n_ = 0; }

 private:
  std::int64_t n_rows_, n_ = 0;
  LongSorter sorter_;
  OrdersMemory orders_;
  stope::cuda::DeviceBuffer<std::uint32_t> n_missing_;
  stope::cuda::Event sorted_;
};

}  // namespace stope::discretize::cuda
