// Makes what the faster scans need besides the images: -|t|^2 / 2 of every row for inner products, and the images once
// more in whole steps for bytes (docs/numerics/filter.md).
#pragma once

#include <cstdint>
#include <vector>

#include "knn/filter/image_map.hpp"

namespace stope::knn {

/// Whether a kind of scan computes the form of a map. Differences compute any.
bool fits(const ImageMap& map, ScanKind kind);

/// For float products. Rows with missing values make them unfit.
struct FloatProducts {
  Buffer<float> starts;       ///< per position
  double largest_norm = 0.0;  ///< of any row that is not always listed
};
FloatProducts make_float_products(const TrainImages& images, std::int64_t n_columns, ThreadPool& pool,
                                  const CancelToken& cancel);

/// Images in bytes, for byte products or byte differences. Residuals are in steps, in the form's norm. For differences
/// a byte is the image + 128, of a column that is compared for equality 1 + (a hash of) the value, and kMissingByte if
/// missing; columns of either sort begin a group.
struct ByteImages {
  ScanKind kind = ScanKind::byte_products;  ///< or byte_differences
  double steps = 0.0;                       ///< a unit of the images is so many steps
  std::int64_t n_columns = 0, n_numeric = 0;
  std::int64_t n_groups = 0, n_numeric_groups = 0;
  std::vector<std::uint8_t> mismatch, weight;  ///< differences, per byte of a row: what a mismatch adds, at most; its
                                               ///< part of the divisor, at least
  double weight_steps = 1.0;                   ///< a weight of 1 is so many of the latter
  Buffer<std::uint8_t> bytes;
  Buffer<std::int32_t> starts;  ///< products
  std::vector<std::uint64_t> always;
  double residual = 0.0;      ///< of rounding an image to steps, for every row that is not always listed
  std::int64_t least_by = 0;  ///< differences: the least divisor of such a row with itself, in parts of `weight`

  std::int64_t group_size() const { return kind == ScanKind::byte_products ? 4 : 8; }
  std::int64_t query_bytes() const { return n_groups * group_size(); }
  /// Where column c's byte lies in a row.
  std::int64_t place(std::int64_t c) const {
    return c < n_numeric ? c : n_numeric_groups * group_size() + c - n_numeric;
  }
};
ByteImages make_byte_images(const TrainImages& images, const ImageMap& map, ScanKind kind, ThreadPool& pool,
                            const CancelToken& cancel);

/// A query's image in steps, query_bytes() bytes, and how far the rounding moved it. For products none of its values is
/// missing.
struct ByteImage {
  double norm = 0.0;  ///< its square
  double residual = 0.0;
  std::int32_t offset = 0;    ///< what 128 added to every training byte adds to its products
  std::int64_t least_by = 1;  ///< differences: the least divisor with any row that is not always listed, at least 1
};
ByteImage make_byte_image(const float* image, const ByteImages& train, std::uint8_t* bytes);

}  // namespace stope::knn
