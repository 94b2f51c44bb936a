// The layout of images in tiles.
#pragma once

#include "knn/cuda/tensor/images/encode.hpp"

namespace stope::knn::cuda {

/// Returns where element (row, column) lies, in images of `width` columns and tiles of kTileRows rows. A tile consists
/// of panels of 64 columns. Their 16-byte pieces are swizzled over the 8 pieces of a 128-byte row (the layout "128-byte
/// swizzle" of the matrix instructions). Images of 32 or 96 columns have panels of 32 columns with the swizzle of 64
/// bytes.
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
