// The layout of training images.
#pragma once

#include "knn/cuda/filter_images.hpp"

namespace stope::knn::cuda {

/// Where element (row, column) of the training images lies: panels of 64 columns, whose 16-byte pieces are swizzled
/// over the 8 pieces of a 128-byte row (the layout "128-byte swizzle" of the matrix instructions).
template <int kWidth>
__device__ __forceinline__ std::int64_t train_place(std::int64_t row, int column) {
  const std::int64_t tile = row / kTileRows;
  const int in_tile = static_cast<int>(row % kTileRows);
  const int piece = (column % 64 / 8) ^ (in_tile & 7);
  return tile * kTileRows * kWidth + column / 64 * (kTileRows * 64) + in_tile * 64 + piece * 8 + column % 8;
}

}  // namespace stope::knn::cuda
