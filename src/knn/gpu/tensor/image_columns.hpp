// The image columns of a table on the matrix units: one per number, one per nominal value, and more where values are
// missing (docs/numerics/filter.md, "Matrix units"). Columns of small whole numbers are in byte_columns.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/cuda_abi.hpp"
#include "knn/filter/image_map.hpp"

namespace stope::knn {

/// For two images, |q - t|^2 is constant + |q|^2 - 2 score. The score is the sum of the products of their columns, less
/// |t|^2 / 2. |q|^2 and |t|^2 are sums over the numbers that are not masked.
struct ImageColumns {
  std::vector<cuda_abi::ImageColumn> columns;
  std::int64_t width = 0;          ///< columns of an image
  int byte_factor = 0;             ///< ByteGrid's factor: images in bytes; 0: images in halves
  std::int64_t start_column = -1;  ///< the first of three columns with the score's start and shift; negative: no room
  double unit = 1.0;               ///< the image distance of two rows at distance 1
  double constant = 0.0;
  double nominal = 0.0;        ///< the sum of the mismatches' weights
  double hashed = 0.0;         ///< the sum of the weights that images may miss: by how much |q - t|^2 may be larger
  double product_error = 0.0;  ///< error bound of a score, since factors are halves
  bool masks = false;          ///< whether values may be missing
  bool takes_missing = false;  ///< whether queries may lack any value with a measure that skips it
};

/// `gaps`: queries lack values of attributes that every training row has. Without it, such queries have no bound.
ImageColumns make_image_columns(const ImageMap& map, const std::vector<Attribute>& attributes, bool gaps);

}  // namespace stope::knn
