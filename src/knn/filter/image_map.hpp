// Maps rows to images. An image is a row as the filter sees it: each value is centred, scaled and rounded to float. Its
// residual says how far the rounding can have moved the row, so a sum over images bounds the sum over the values
// (docs/numerics/filter.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/engine/plan.hpp"
#include "knn/engine/train_rows.hpp"
#include "knn/filter/box_tree.hpp"
#include "knn/filter/byte_grid.hpp"
#include "knn/filter/row_image.hpp"
#include "knn/filter/scan/scan.hpp"
#include "knn/filter/split/split.hpp"
#include "knn/filter/sum_bounds.hpp"

namespace stope::knn {

class RowMapper;  // knn/filter/row_mapper.hpp

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
  /// How queries become images where they do so in another way than training rows; otherwise null.
  const std::shared_ptr<const ImageMap>& query_map() const { return query_map_; }
  std::int64_t n_numeric() const { return static_cast<std::int64_t>(numeric_.size()); }
  std::int64_t n_columns() const { return n_numeric() + static_cast<std::int64_t>(equality_.size()); }
  const float* mismatch() const { return mismatch_.data(); }
  const float* weight() const { return weight_.data(); }
  /// Returns the grid of a sample of the rows if they are small whole numbers, compared without scaling; otherwise
  /// null.
  const ByteGrid* byte_grid() const { return byte_grid_.has_value() ? &*byte_grid_ : nullptr; }
  double total_weight() const { return total_weight_; }
  /// Whether a training row that has a bound may lack a number, and whether it may lack any value.
  bool lacks(const NumericColumn& column) const {
    return form_.missing != Missing::undefined && attributes_[static_cast<std::size_t>(column.source)].missing;
  }
  bool lacks_values() const;

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
  std::shared_ptr<const ImageMap> query_map_;
};

/// What all kinds of images of a training table share: the rows' places in blocks (scan.hpp), with boxes around them
/// where `ordered`.
struct TrainImages {
  std::int64_t n_rows = 0;  ///< rows are numbered from the part's first
  std::int64_t n_blocks = 0;
  double residual = 0.0;      ///< rows with a larger one, or with none, are always listed
  double usual_size = 0.0;    ///< the largest |number| in all but one of 512 rows
  bool missing = false;       ///< whether a row that has a bound may lack a value
  Buffer<std::int64_t> rows;  ///< row at each position; empty: the position itself
  BoxTree boxes;              ///< around the blocks, if ordered

  bool ordered() const { return !rows.empty(); }
  std::int64_t row(std::int64_t position) const { return rows.empty() ? position : rows[position]; }
};

/// Images of rows, row-major, each with its residual (NaN: no image can bound the row).
struct RowImages {
  Buffer<float> rows;
  Buffer<double> residuals;
  bool missing = false;  ///< whether a row that has a bound lacks a value
};
RowImages make_row_images(const RowMapper& mapper, const double* rows, std::int64_t n, std::int64_t width,
                          ThreadPool& pool, const CancelToken& cancel);

/// Images of training rows in blocks, for scans in floats.
struct FloatBlocks {
  Buffer<float> blocks;               ///< as Scan::blocks; behind the last row, images are missing
  std::vector<std::uint64_t> always;  ///< per block, the rows that are always listed
};

/// Leaves the blocks in `floats`, if that is not null and near rows are put together: that needs the images of all
/// rows. Those of rows that are always listed are then missing.
TrainImages make_train_images(const RowMapper& mapper, const TrainPart& part, std::int64_t width, BlockOrder order,
                              const SplitKernels& splits, FloatBlocks* floats, ThreadPool& pool,
                              const CancelToken& cancel);

}  // namespace stope::knn
