// The layout of images in tiles.
#pragma once

#include "knn/cuda/tensor/images/encode.hpp"

namespace stope::knn::cuda {

/// Returns where an element lies in a tile of kTileRows rows, in images of `width` columns. A tile consists of panels
/// of 64 columns. Their 16-byte pieces are swizzled over the 8 pieces of a 128-byte row (the layout "128-byte swizzle"
/// of the matrix instructions). Images of 32 or 96 columns have panels of 32 columns with the swizzle of 64 bytes.
__host__ __device__ __forceinline__ int place_in_tile(int row, int column, int width) {
  if (panel_columns(width) == 32) {
    const int piece = (column % 32 / 8) ^ ((row >> 1) & 3);
    return column / 32 * (kTileRows * 32) + row * 32 + piece * 8 + column % 8;
  }
  const int piece = (column % 64 / 8) ^ (row & 7);
  return column / 64 * (kTileRows * 64) + row * 64 + piece * 8 + column % 8;
}

/// Returns where element (row, column) lies in images in tiles.
__host__ __device__ __forceinline__ std::int64_t tile_place(std::int64_t row, int column, int width) {
  return row / kTileRows * kTileRows * width + place_in_tile(static_cast<int>(row % kTileRows), column, width);
}

}  // namespace stope::knn::cuda
