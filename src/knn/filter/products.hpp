// What the faster scans need beside the images: for inner products -|t|^2 / 2 of every row, for bytes the images once
// more, in whole steps. Forms without mismatches and rows without missing values only.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/filter/images.hpp"

namespace stope::knn {

/// Whether a kind of scan computes the form of a map. Differences compute any.
bool fits(const ImageMap& map, ScanKind kind);

/// For float products. Rows with missing values make them unfit.
struct FloatProducts {
  Buffer<float> starts;       ///< per slot
  double largest_norm = 0.0;  ///< of any row that is not always listed
};
FloatProducts make_float_products(const TrainImages& images, std::int64_t n_columns);

/// Images in bytes, for byte products or byte differences. Residuals are in steps, in the form's norm.
struct ByteImages {
  ScanKind kind = ScanKind::byte_products;
  double steps = 0.0;  ///< a unit of the images is so many steps
  std::int64_t n_groups = 0;
  Buffer<std::uint8_t> bytes;
  Buffer<std::int32_t> starts;  ///< products
  std::vector<std::uint64_t> always;
  double residual = 0.0;  ///< of rounding an image to steps, for every row that is not always listed

  std::int64_t group_size() const { return kind == ScanKind::byte_products ? 4 : 8; }
  std::int64_t query_bytes() const { return n_groups * group_size(); }
};
ByteImages make_byte_images(const TrainImages& images, std::int64_t n_columns, ScanKind kind, ThreadPool& pool,
                            const CancelToken& cancel);

/// A query's image in steps, query_bytes() bytes, and how far the rounding moved it. Its values are not missing.
struct ByteImage {
  double norm = 0.0;  ///< its square
  double residual = 0.0;
  std::int32_t offset = 0;  ///< what 128 added to every training byte adds to its products
};
ByteImage make_byte_image(const float* image, std::int64_t n_columns, const ByteImages& train, std::uint8_t* bytes);

}  // namespace stope::knn
