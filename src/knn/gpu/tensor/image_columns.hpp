// The image columns that a table gets on the matrix units: one per number, one per nominal value, and more where values
// are missing (docs/numerics/filter.md, "Matrix units"). byte_columns.hpp has those of small whole numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/cuda_abi.hpp"
#include "knn/filter/image_map.hpp"

namespace stope::knn {

/// |q - t|^2 of two images is constant + |q|^2 - 2 score, the score being the products of their columns added up, less
/// |t|^2 / 2; |q|^2 and |t|^2 go over the numbers that are not masked.
struct ImageColumns {
  std::vector<cuda_abi::ImageColumn> columns;
  std::int64_t width = 0;          ///< of an image
  int byte_factor = 0;             ///< ByteGrid's: images are of bytes; 0: of halves
  std::int64_t start_column = -1;  ///< the first of three with the score's start and shift; negative: there was no room
  double unit = 1.0;               ///< a distance of 1 is so much between images
  double constant = 0.0;
  double nominal = 0.0;        ///< the sum of the mismatches' weights
  double hashed = 0.0;         ///< of those that images may miss: |q - t|^2 may be more by so much
  double product_error = 0.0;  ///< of a score, since factors are halves
  bool masks = false;          ///< whether values may be missing
  bool takes_missing = false;  ///< whether queries may lack any value with a measure that skips it
};

/// `gaps`: queries lack values of attributes that every training row has. Without, such queries have no bound.
ImageColumns make_image_columns(const ImageMap& map, const std::vector<Attribute>& attributes, bool gaps);

}  // namespace stope::knn
