// Makes what the faster scans need in addition to the images. Inner products need -|t|^2 / 2 of every row; nibbles and
// bytes need the images in whole steps (docs/numerics/filter.md).
#pragma once

#include <cstdint>
#include <vector>

#include "knn/filter/image_blocks.hpp"

namespace stope::knn {

/// Whether a kind of scan computes the form of a map. Differences compute any form.
bool fits(const ImageMap& map, ScanKind kind);

/// For float products. Rows with missing values cannot use them.
struct FloatProducts {
  Buffer<float> starts;       ///< per position
  double largest_norm = 0.0;  ///< the largest of any row that is not always listed
};
FloatProducts make_float_products(const ImageSource& source, const FloatBlocks& floats, ThreadPool& pool,
                                  const CancelToken& cancel);

/// Images in bytes, for a kind in bytes. Residuals are in steps, in the form's norm. A number's byte is the image +
/// 128. A value compared for equality has 1 + (a hash of) the value. Missing values have kMissingByte. Columns of
/// either sort begin a group. A nibble is the image + 7.5, rounded; a group's first four columns are the low nibbles of
/// its bytes.
struct ByteImages {
  ScanKind kind = ScanKind::byte_products;
  double steps = 0.0;        ///< steps per unit of the images
  double query_steps = 1.0;  ///< steps of a query per step of a training row: nibbles 16, pair products 1 or 1/2
  std::int64_t n_columns = 0, n_numeric = 0;
  std::int64_t n_groups = 0, n_numeric_groups = 0;
  std::vector<std::uint8_t> mismatch, weight;  ///< differences, per byte of a row: the term of a mismatch, rounded
                                               ///< down; its share of the divisor, rounded up
  double weight_steps = 1.0;                   ///< units of `weight` per weight of 1
  Buffer<std::uint8_t> bytes;
  Buffer<std::int32_t> starts;  ///< of products
  std::vector<std::uint64_t> always;
  double residual = 0.0;      ///< from rounding an image to steps, over all rows that are not always listed
  std::int64_t least_by = 0;  ///< differences: the least divisor of such a row with itself, in units of `weight`
  /// Term::product: how long a query is at most, and what its rounding may move without a mention in its cut, in steps
  /// of queries. Starts allow for both, and for the rounding of their rows.
  double query_norm = 0.0, query_rounding = 0.0;

  bool nibbles() const { return kind == ScanKind::nibble_products; }
  bool pairs() const { return kind == ScanKind::byte_pair_products; }
  bool products() const { return nibbles() || pairs() || kind == ScanKind::byte_products; }
  /// Columns of a group. A query has a byte for each, a row of nibbles half as many.
  std::int64_t group_size() const { return pairs() || kind == ScanKind::byte_products ? 4 : 8; }
  std::int64_t query_bytes() const { return n_groups * group_size(); }
  std::int64_t group_bytes() const { return nibbles() ? group_size() / 2 : group_size(); }
  std::int64_t row_bytes() const { return n_groups * group_bytes(); }
  /// Returns column c's place among the columns of all groups.
  std::int64_t place(std::int64_t c) const {
    return c < n_numeric ? c : n_numeric_groups * group_size() + c - n_numeric;
  }
};
ByteImages make_byte_images(const ImageSource& source, ScanKind kind, ThreadPool& pool, const CancelToken& cancel);

/// A query's image in steps, query_bytes() bytes, and how far the rounding moved it. For products none of its values is
/// missing, unless it has no bound.
struct ByteImage {
  double norm = 0.0;  ///< square of its norm, in the unit of the products
  double residual = 0.0;
  double offset = 0.0;        ///< the sum that what was added to every training number adds to its products
  std::int64_t least_by = 1;  ///< differences: the least divisor with any row that is not always listed, at least 1
  double steps = 0.0;         ///< Term::product: steps per unit of the query's image
};
ByteImage make_byte_image(const float* image, const ByteImages& train, std::uint8_t* bytes);

}  // namespace stope::knn
