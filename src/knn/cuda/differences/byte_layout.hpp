// Sums of absolute differences and mismatches in bytes: where each attribute's bytes lie in the image of a row.
//
// An image is first products of signed bytes, which matrix instructions add to the sum:
//   a number:     with gaps two columns that take back what a missing value's 128 has added:
//                 q: |q - 128|, t: -1 if missing;    q: 1 if missing, t: -|t - 128|
//   an equality:  a column a bucket of values, and one for its presence:
//                 q: -weight in its bucket, t: factor in its bucket;    q: weight if present, t: factor if present
//                 which is weight * factor if both are present and in different buckets, at most what a mismatch adds.
// Then, with gaps and a divisor, products that add that: q: the attribute's part of it if present, t: 1 if present.
// Last come the numbers in steps + 128 (128 where missing), four a word: the scan adds |q - t| of them.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace stope::knn::cuda {

/// One column of an image.
struct ByteColumn {
  std::int32_t products;  ///< its first byte of the products; -1: it has none
  std::int32_t buckets;   ///< of an equality; 0: a number
  std::int8_t weight, factor;
  std::int8_t part;  ///< of the divisor
  std::int8_t unused;
};

struct ByteLayout {
  const ByteColumn* columns;  ///< per column of the image
  double steps;               ///< a unit of the images is so many steps
  int difference_words, product_words, divisor_words;

  STOPE_HD int words() const { return (difference_words + product_words + divisor_words + 1) / 2 * 2; }
};

}  // namespace stope::knn::cuda
