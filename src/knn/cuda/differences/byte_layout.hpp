// Sums of absolute differences and mismatches in bytes: where each attribute's bytes lie in the image of a row.
//
// An image begins with products of signed bytes, which matrix instructions add to the sum:
//   a number:     with gaps it has two columns, which take back what the 128 of a missing value has added:
//                 q: |q - 128|, t: -1 if missing;    q: 1 if missing, t: -|t - 128|
//   an equality:  it has one column for each bucket of values, and one for its presence:
//                 q: -weight in its bucket, t: factor in its bucket;    q: weight if present, t: factor if present.
//                 The sum is weight * factor if both are present and in different buckets, at most what a mismatch
//                 adds.
// With gaps and a divisor, products follow that add up the divisor: q: the attribute's part of it if present, t: 1
// if present. Last come the numbers in steps + 128 (128 if missing), four a word: the scan adds |q - t| of them.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace stope::knn::cuda {

/// One column of an image.
struct ByteColumn {
  std::int32_t products;  ///< place of its first byte among the products; -1: it has none
  std::int32_t buckets;   ///< buckets of an equality; 0: the column is a number
  std::int8_t weight, factor;
  std::int8_t part;  ///< what the column adds to the divisor
  std::int8_t unused;
};

struct ByteLayout {
  const ByteColumn* columns;  ///< per column of the image
  double steps;               ///< steps in a unit of the images
  int difference_words, product_words, divisor_words;

  STOPE_HD int words() const { return (difference_words + product_words + divisor_words + 1) / 2 * 2; }
};

}  // namespace stope::knn::cuda
