// Boxes over boxes: the box around every block of rows, around kBoxFan consecutive boxes, and so on up to one group of
// boxes. Rows stand in k-d order, so that the blocks below a box are near each other (near_order.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/filter/scan/scan.hpp"
#include "stope/buffer.hpp"

namespace stope::knn {

/// The boxes of one level, in groups of kBoxFan: the corners of a group's boxes stand side by side in each column, so
/// that one instruction compares all of them.
class BoxLevel {
 public:
  /// `n` boxes that hold nothing.
  BoxLevel(std::int64_t n, std::int64_t n_columns);

  std::int64_t n_boxes() const { return n_; }
  /// Corners of a group: [column * kBoxFan + box of the group].
  const float* low(std::int64_t group) const { return low_.data() + group * n_columns_ * kBoxFan; }
  const float* high(std::int64_t group) const { return high_.data() + group * n_columns_ * kBoxFan; }
  /// One bit for each box that the group has.
  std::uint32_t boxes_of(std::int64_t group) const {
    const std::int64_t n = n_ - group * kBoxFan;
    return n >= kBoxFan ? (std::uint32_t{1} << kBoxFan) - 1 : (std::uint32_t{1} << n) - 1;
  }

  /// The least number of the rows in a box.
  std::int64_t first_row(std::int64_t box) const { return first_rows_[box]; }

  /// Widens a column of a box to hold an interval. A missing value (NaN) is at no distance from any value: it opens the
  /// box there.
  void widen(std::int64_t box, std::int64_t column, float low, float high);
  void add_row(std::int64_t box, std::int64_t row);

 private:
  std::int64_t place(std::int64_t box, std::int64_t column) const {
    return (box / kBoxFan * n_columns_ + column) * kBoxFan + box % kBoxFan;
  }
  std::int64_t n_ = 0, n_columns_ = 0;
  Buffer<float> low_, high_;
  Buffer<std::int64_t> first_rows_;

  friend class BoxTree;
};

class BoxTree {
 public:
  BoxTree() = default;
  /// Makes the levels above the boxes around blocks.
  BoxTree(BoxLevel blocks, ThreadPool& pool, const CancelToken& cancel);

  bool empty() const { return levels_.empty(); }
  /// Level 0 has the boxes around blocks; the last level is one group.
  const BoxLevel& level(int i) const { return levels_[static_cast<std::size_t>(i)]; }
  int n_levels() const { return static_cast<int>(levels_.size()); }

 private:
  std::vector<BoxLevel> levels_;
};

}  // namespace stope::knn
