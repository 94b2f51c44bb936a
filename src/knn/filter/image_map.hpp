// Maps rows to images. An image is a row as the filter sees it: each value is centred, scaled and rounded to float. Its
// residual says how far the rounding can have moved the row, so a sum over images bounds the sum over the values
// (docs/numerics/filter.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/engine/plan.hpp"
#include "knn/engine/train_rows.hpp"
#include "knn/filter/box_tree.hpp"
#include "knn/filter/byte_grid.hpp"
#include "knn/filter/row_image.hpp"
#include "knn/filter/scan/scan.hpp"
#include "knn/filter/sum_bounds.hpp"

namespace stope::knn {

/// How rows of one fitted table become images: the same map for training and query rows.
class ImageMap {
 public:
  /// Looks at a sample of the training rows.
  ImageMap(const Fitted& fitted, const FilterForm& form);

  using NumericColumn = knn::NumericColumn;
  const std::vector<NumericColumn>& numeric() const { return numeric_; }
  /// The attributes that are only compared for equality.
  const std::vector<std::int64_t>& equality() const { return equality_; }
  /// Returns how a row is mapped; the result points into the map.
  RowForm row_form() const {
    return {form_,
            numeric_.data(),
            static_cast<std::int64_t>(numeric_.size()),
            equality_.data(),
            static_cast<std::int64_t>(equality_.size()),
            attributes_.data()};
  }
  SumBounds sum_bounds() const { return {form_, n_columns(), unit_, total_weight_, least_weight_}; }
  /// Returns the image distance of two rows at distance 1.
  double unit() const { return unit_; }

  const FilterForm& form() const { return form_; }
  /// Whether cut() holds. It does not for weights that a float cannot tell apart from 0 or infinity, nor for scales
  /// that a double cannot.
  bool bounds() const;
  std::int64_t n_numeric() const { return static_cast<std::int64_t>(numeric_.size()); }
  std::int64_t n_columns() const { return n_numeric() + static_cast<std::int64_t>(equality_.size()); }
  const float* mismatch() const { return mismatch_.data(); }
  const float* weight() const { return weight_.data(); }
  /// Returns the grid of a sample of the rows if they are small whole numbers, compared without scaling; otherwise
  /// null.
  const ByteGrid* byte_grid() const { return byte_grid_.has_value() ? &*byte_grid_ : nullptr; }
  double total_weight() const { return total_weight_; }

  /// Writes the image of a row, n_columns floats, and returns its residual. The residual is NaN, and the image all
  /// missing, for a row that no image can bound (an infinity, or a missing value where the measure does not skip it).
  double map(const double* row, float* image) const;

  /// See SumBounds::limit.
  using Limit = SumBounds::Limit;
  Limit limit(double distance, double residual) const { return sum_bounds().limit(distance, residual); }

  /// Returns the cut for the scan by differences. If the sum of a pair exceeds it, the pair's distance exceeds
  /// `distance`.
  Cut cut(double distance, double residual) const;

 private:
  void choose_columns(const Fitted& fitted);
  void choose_scales(const Fitted& fitted);

  FilterForm form_;
  std::vector<Attribute> attributes_;
  std::vector<NumericColumn> numeric_;
  std::vector<std::int64_t> equality_;  // sources
  std::vector<float> mismatch_, weight_;
  double unit_ = 1.0;
  double total_weight_ = 0.0, least_weight_ = 0.0;
  bool scales_are_normal_ = true;
  std::optional<ByteGrid> byte_grid_;
};

/// The images of a training table, in blocks (scan.hpp), with boxes around them where `ordered`.
struct TrainImages {
  std::int64_t n_rows = 0;  ///< rows are numbered from the part's first
  std::int64_t n_blocks = 0;
  Buffer<float> blocks;
  std::vector<std::uint64_t> always;
  double residual = 0.0;           ///< the largest of all rows that are not always listed
  bool missing = false;            ///< whether any such row has a missing value
  std::vector<std::int64_t> rows;  ///< row at each position; empty: the position itself
  BoxTree boxes;                   ///< around the blocks, if ordered
  /// If ordered and at most kMostNearColumns wide: the encoded rows in this order, so that near rows share cache lines
  /// and pages when their distances are computed. Otherwise empty.
  Buffer<double> near_rows;

  static constexpr std::int64_t kMostNearColumns = 8;
  bool ordered() const { return !rows.empty(); }
  std::int64_t row(std::int64_t position) const {
    return rows.empty() ? position : rows[static_cast<std::size_t>(position)];
  }
};

TrainImages make_train_images(const ImageMap& map, const TrainPart& part, std::int64_t width, BlockOrder order,
                              ThreadPool& pool, const CancelToken& cancel);

/// Images of rows, row-major, each with its residual (NaN: no image can bound the row).
struct RowImages {
  Buffer<float> rows;
  Buffer<double> residuals;
};
RowImages make_row_images(const ImageMap& map, const double* rows, std::int64_t n, std::int64_t width, ThreadPool& pool,
                          const CancelToken& cancel);

}  // namespace stope::knn
