// Sorts pairs of a key and a number on the GPU: stable, by the lowest bits of the keys, one byte after the other.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"

namespace stope::knn::cuda {

class PairSort {
 public:
  /// Makes room for `most` pairs.
  explicit PairSort(std::int64_t most);
  static std::int64_t bytes(std::int64_t most);

  /// The pairs to be sorted, and afterwards those that are: other memory than before.
  std::uint64_t* keys() const { return keys_[now_].data(); }
  std::int32_t* values() const { return values_[now_].data(); }
  /// Sorts the first n pairs by the lowest `bits` bits of their keys. The order of pairs with equal bits remains.
  void sort(std::int64_t n, int bits, const stope::cuda::Stream& stream);

 private:
  stope::cuda::DeviceBuffer<std::uint64_t> keys_[2];
  stope::cuda::DeviceBuffer<std::int32_t> values_[2];
  stope::cuda::DeviceBuffer<std::uint32_t> counts_, totals_;
  int now_ = 0;
};

}  // namespace stope::knn::cuda
