// The layout of images in tiles, and how a number becomes halves.
#pragma once

#include "knn/cuda/tensor/images/encode.hpp"

namespace stope::knn::cuda {

/// Where element (row, column) of images of `width` columns lies that are laid out in tiles of kTileRows rows: panels
/// of 64 columns, whose 16-byte pieces are swizzled over the 8 pieces of a 128-byte row (the layout "128-byte swizzle"
/// of the matrix instructions); of 32 or 96 columns panels of 32 with the swizzle of 64 bytes.
__host__ __device__ __forceinline__ std::int64_t tile_place(std::int64_t row, int column, int width) {
  const std::int64_t tile = row / kTileRows * kTileRows * width;
  const int in_tile = static_cast<int>(row % kTileRows);
  if (panel_columns(width) == 32) {
    const int piece = (column % 32 / 8) ^ ((in_tile >> 1) & 3);
    return tile + column / 32 * (kTileRows * 32) + in_tile * 32 + piece * 8 + column % 8;
  }
  const int piece = (column % 64 / 8) ^ (in_tile & 7);
  return tile + column / 64 * (kTileRows * 64) + in_tile * 64 + piece * 8 + column % 8;
}

}  // namespace stope::knn::cuda
