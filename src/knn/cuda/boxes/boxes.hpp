// Boxes over boxes on a GPU: the box around the images of every leaf, around 32 consecutive boxes, and so on up to one
// group of boxes. A lane of a warp compares one box of a group, or evaluates one row of a leaf.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/boxes/leaf_order.hpp"
#include "knn/filter/row_image.hpp"

namespace stope::knn::cuda {

inline constexpr int kGroupBoxes = 32;    ///< boxes of a group
inline constexpr int kMostBoxLevels = 6;  ///< 32^6 leaves are more than rows can be numbered
inline constexpr int kNoLeafRow = -1;     ///< a place of a leaf that has no row

/// The levels of boxes. Level 0 has the boxes around leaves; the last level is one group.
struct BoxLevels {
  int n_levels;
  std::int64_t n_boxes[kMostBoxLevels];
  std::int64_t first_group[kMostBoxLevels];  ///< groups of all levels are numbered on
  float* low;                                ///< [(group * n_columns + column) * kGroupBoxes + box of the group]
  float* high;
  std::int32_t* first_rows;  ///< the least number of a box's rows: [group * kGroupBoxes + box of the group]

  /// Levels over so many leaves, still without memory.
  static BoxLevels over(std::int64_t n_leaves);
  std::int64_t n_groups() const;
};

/// Images of rows, row-major, NaN = missing. A row that no image bounds well is all missing.
struct RowImageJob {
  RowForm form;  ///< points into the GPU's memory
  const double* rows;
  std::int64_t n, width;
  float* images;
  float* residuals;  ///< rounded up; NaN: no image can bound the row
};
void launch_row_images(const RowImageJob& job, cudaStream_t stream);

/// Makes rows whose residual exceeds `most_residual` rows of missing values: these open the boxes around them.
struct HideJob {
  float* images;
  const float* residuals;
  std::int64_t n;
  int n_columns;
  float most_residual;
};
void launch_hide(const HideJob& job, cudaStream_t stream);

/// Puts rows into the places of their leaves, and boxes around their images.
struct LeafJob {
  LeafShape shape;
  const std::int32_t* order;  ///< the row at each place
  const float* images;
  int n_columns;
  const double* train;
  int width;
  BoxLevels boxes;
  double* near;             ///< [(leaf * width + attribute) * kLeafRows + place in the leaf]
  std::int32_t* near_rows;  ///< [leaf * kLeafRows + place in the leaf]
};
void launch_boxes(const LeafJob& job, cudaStream_t stream);

/// Finds the leaf that each query would be in: keys[i] is its number, values[i] is i.
struct HomeJob {
  LeafShape shape;
  const Split* splits;
  const float* images;
  int n_columns;
  std::int64_t n;
  std::uint64_t* keys;
  std::int32_t* values;
};
void launch_homes(const HomeJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
