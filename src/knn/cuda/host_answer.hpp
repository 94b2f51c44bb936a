// Pinned memory for the lists of a search. It is slow to allocate, so it is kept for the next search.
#pragma once

#include <cstdint>

#include "base/checked.hpp"
#include "device/cuda/buffer.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

struct HostAnswer {
  stope::cuda::PinnedBuffer<double> distances;
  stope::cuda::PinnedBuffer<std::int32_t> rows, uncertified;

  /// Makes room for the answer to a query: with a vote, it has no lists.
  void reserve(const cuda_abi::DifferenceQuery& query) {
    if (query.vote == nullptr) {
      const std::int64_t size = checked::mul(query.n, query.k);
      grow(distances, size);
      grow(rows, size);
    }
    grow(uncertified, query.n);
  }

 private:
  template <class T>
  static void grow(stope::cuda::PinnedBuffer<T>& buffer, std::int64_t size) {
    if (buffer.size() < size) buffer = stope::cuda::PinnedBuffer<T>(size);
  }
};

}  // namespace stope::knn::cuda
