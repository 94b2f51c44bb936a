// Sorts long columns (long_sort.cuh).
#pragma once

#include <cstdint>

#include "base/checked.hpp"
#include "device/cuda/buffer.hpp"
#include "discretize/cuda/long_level.hpp"

namespace stope::discretize::cuda {

/// Memory for the orders of columns.
class OrdersMemory {
 public:
  OrdersMemory(std::int64_t n_rows, std::int64_t n_columns)
      : stride_((n_rows + 31) / 32 * 32),
        ranks_(checked::mul(stride_, n_columns)),
        rows_(ranks_.size()),
        classes_(ranks_.size()) {}
  LongOrders there() const { return {ranks_.data(), rows_.data(), classes_.data(), stride_}; }

 private:
  std::int64_t stride_;
  stope::cuda::DeviceBuffer<std::uint32_t> ranks_, rows_;
  stope::cuda::DeviceBuffer<std::uint8_t> classes_;
};

class LongSorter {
 public:
  LongSorter(std::int64_t n_rows, int n_classes) : n_rows_(n_rows), n_classes_(n_classes) {}

  /// Allocates the memory that a sort of n_columns columns needs (discretize/sort_memory.hpp).
  template <class T>
  void reserve(std::int64_t n_columns);

  /// Queues the sort of columns that lie one behind the other. They become columns `first` ... of `orders`. Calls must
  /// follow one another, in one stream or in streams that wait, because they use the same memory. T: float, double,
  /// std::int32_t (codes, not negative). Fewer than 2^30 rows.
  template <class T>
  void sort(const T* values, std::int64_t n_columns, const std::uint8_t* classes, const LongOrders& orders,
            std::int64_t first, cudaStream_t stream);

 private:
  void rank_values(const std::uint64_t* keys, std::int64_t n_columns, std::uint32_t* ranks, std::int64_t stride,
                   cudaStream_t stream);

  std::int64_t n_rows_;
  int n_classes_;
  stope::cuda::DeviceBuffer<std::uint32_t> state_;
  stope::cuda::DeviceBuffer<uint4> items_;
  stope::cuda::GrowingBuffer<std::uint32_t> counts_;
};

}  // namespace stope::discretize::cuda
