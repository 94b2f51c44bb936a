// What the scans by inner products need beside the images: -|t|^2 / 2 of every row, and for bytes the images once more,
// in whole steps. Squares without missing values and mismatches only (fits_products).
#pragma once

#include <cstdint>
#include <vector>

#include "knn/filter/images.hpp"

namespace stope::knn {

/// Whether the form of a map is one that inner products compute.
bool fits_products(const ImageMap& map);

/// For float products. Rows with missing values make them unfit.
struct FloatProducts {
  Buffer<float> starts;       ///< per slot
  double largest_norm = 0.0;  ///< of any row that is not always listed
};
FloatProducts make_float_products(const TrainImages& images, std::int64_t n_columns);

/// For byte products.
struct ByteProducts {
  double steps = 0.0;  ///< a unit of the images is so many steps
  std::int64_t n_quads = 0;
  Buffer<std::uint8_t> bytes;
  Buffer<std::int32_t> starts;
  std::vector<std::uint64_t> always;
  double residual = 0.0;  ///< of rounding an image to steps, for every row that is not always listed; in steps
};
ByteProducts make_byte_products(const TrainImages& images, std::int64_t n_columns, ThreadPool& pool,
                                const CancelToken& cancel);

/// A query's image in steps: n_quads * 4 bytes, its square, and how far the rounding moved it. NaN residual: a missing
/// value, which products cannot take.
struct ByteImage {
  double norm = 0.0;
  double residual = 0.0;
  std::int32_t offset = 0;  ///< what 128 added to every training byte adds to its products
};
ByteImage make_byte_image(const float* image, std::int64_t n_columns, double steps, std::int64_t n_quads,
                          std::int8_t* bytes);

}  // namespace stope::knn
