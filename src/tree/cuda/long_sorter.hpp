// Sorts long columns (long_sort.cuh).
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "tree/cuda/long_tree.hpp"

namespace stope::tree::cuda {

class LongSorter {
 public:
  LongSorter(std::int64_t n_rows, int n_classes) : n_rows_(n_rows), n_classes_(n_classes) {}

  /// Queues the sort of columns that lie one behind the other; they become columns first .. of `orders`. `other`: room
  /// of the same size. Always in one stream: memory of the sort's own is used again. T: float, double, std::int32_t
  /// (codes, not negative). Fewer than 2^30 rows.
  template <class T>
  void sort(const T* values, std::int64_t n_columns, const std::uint8_t* classes, const LongOrders& orders,
            const LongOrders& other, std::int64_t first, cudaStream_t stream);

 private:
  void rank_values(const std::uint64_t* keys, std::int64_t n_columns, std::uint32_t* ranks, std::int64_t stride,
                   cudaStream_t stream);

  std::int64_t n_rows_;
  int n_classes_;
  stope::cuda::GrowingBuffer<std::uint32_t> state_, counts_;
  stope::cuda::GrowingBuffer<std::uint64_t> keys_;  ///< of columns of float64, twice
};

}  // namespace stope::tree::cuda
