// Images in bytes for squares by inner products where values may be missing (docs/numerics/filter.md, "Missing values
// in products"). The sum runs over the columns that both rows have:
//
//   sum (n_q - n_t)^2 = |n_q|^2 + |n_t|^2 - 2 <n_q, n_t> - sum of n_q^2 where t lacks the column - the same with q and
//   t
//
// with 0 for a missing number. The last two sums are products, too: of a mask and of rounded squares.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/filter/image_blocks.hpp"

namespace stope::knn {

/// A block has three parts, each in groups of four columns: numbers (the image + 128; a missing one is 128); masks, 64
/// where the row lacks the column, of the groups that some row lacks; squares, as ceil(n^2 / 128).
struct PresentProducts {
  double steps = 0.0;  ///< steps per unit of the images
  std::int64_t n_columns = 0, n_groups = 0;
  std::vector<std::int32_t> masked;       ///< groups with masks
  std::vector<std::int32_t> mask_places;  ///< per group: the place of its masks in a block, in groups, or -1
  std::vector<double> weight;             ///< per column: its share of the divisor; without a divisor 0
  Buffer<std::uint8_t> bytes;
  Buffer<std::int32_t> starts;  ///< per position: -|n_t|^2 / 2
  Buffer<float> weights;        ///< per position: the weight that the row has, rounded up; without a divisor 1
  std::vector<std::uint64_t> always;
  double residual = 0.0;      ///< in steps, from rounding, over all rows that are not always listed
  double least_weight = 1.0;  ///< of `weights`

  std::int64_t n_masked() const { return static_cast<std::int64_t>(masked.size()); }
  /// Bytes of a row, and of a query: a query has signed numbers, ceil(n^2 / 128), and 64 where it lacks the column.
  std::int64_t row_bytes() const { return 4 * (2 * n_groups + n_masked()); }
};

/// Whether this scan computes the form of a map.
bool fits_present_products(const ImageMap& map);

PresentProducts make_present_products(const ImageSource& source, ThreadPool& pool, const CancelToken& cancel);

/// Numbers of a query's gaps: how many groups it lacks a column in, then the group and its mask_places for each.
constexpr std::int64_t gap_numbers(std::int64_t n_groups) {
  return 2 * n_groups + 1;
}

/// A query's image in steps: row_bytes() bytes, and gap_numbers() of its gaps.
struct PresentImage {
  double norm = 0.0;  ///< |n_q|^2
  double residual = 0.0;
  double offset = 0.0;   ///< what the 128 that is added to every training number adds to the products
  double weight = 1.0;   ///< the weight that the query has, rounded up; without a divisor 1
  double lacking = 0.0;  ///< columns that it lacks, times `least`, rounded down
  double least = 0.0;    ///< the least weight of these columns; without a divisor 0
};
PresentImage make_present_image(const float* image, const PresentProducts& train, std::uint8_t* bytes,
                                std::int32_t* gaps);

}  // namespace stope::knn
