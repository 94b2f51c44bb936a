// Sorts long columns: some at a time, since one alone does not keep a GPU busy.
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
  /// of the same size. T: float, double, std::int32_t (codes, not negative).
  template <class T>
  void sort(const T* values, std::int64_t n_columns, const std::uint8_t* classes, const LongOrders& orders,
            const LongOrders& other, std::int64_t first, cudaStream_t stream);

 private:
  static constexpr int kLanes = 4;

  struct Lane {
    stope::cuda::Stream stream;
    stope::cuda::Event done;
    stope::cuda::DeviceBuffer<char> scratch;
    stope::cuda::DeviceBuffer<std::uint64_t> keys;  ///< of a column of float64, twice
  };

  template <class T>
  void sort_column(Lane& lane, const T* x, const std::uint8_t* classes, const LongOrders& orders,
                   const LongOrders& other, std::int64_t column);

  std::int64_t n_rows_;
  Lane lanes_[kLanes];
  stope::cuda::Event begun_;
};

}  // namespace stope::tree::cuda
