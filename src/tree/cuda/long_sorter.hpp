// Sorts long columns (long_sort.cuh).
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "tree/cuda/long_tree.hpp"

namespace stope::tree::cuda {

class LongSorter {
 public:
  explicit LongSorter(std::int64_t n_rows) : n_rows_(n_rows) {}

  /// Queues the sort of columns that lie one behind the other; they become columns first .. of `orders`. `other`: room
  /// of the same size. What is queued in another stream follows what was before. T: float, double, std::int32_t (codes,
  /// not negative). Fewer than 2^30 rows.
  template <class T>
  void sort(const T* values, std::int64_t n_columns, const std::uint8_t* classes, const LongOrders& orders,
            const LongOrders& other, std::int64_t first, cudaStream_t stream);

 private:
  void rank_values(const std::uint64_t* keys, std::int64_t n_columns, std::uint32_t* ranks, std::int64_t stride,
                   cudaStream_t stream);

  std::int64_t n_rows_;
  stope::cuda::GrowingBuffer<std::uint32_t> offsets_, published_, counts_;
  stope::cuda::GrowingBuffer<unsigned long long> next_;
  stope::cuda::GrowingBuffer<std::uint64_t> keys_;  ///< of columns of float64, twice
  stope::cuda::Event done_;
};

}  // namespace stope::tree::cuda
