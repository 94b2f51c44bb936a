#include "knn/filter/box_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::int64_t floats_of(std::int64_t n, std::int64_t n_columns) {
  return checked::mul(checked::mul(checked::ceil_div(n, kBoxFan), kBoxFan), n_columns);
}

}  // namespace

BoxLevel::BoxLevel(std::int64_t n, std::int64_t n_columns)
    : n_(n), n_columns_(n_columns), low_(floats_of(n, n_columns)), high_(low_.size()), first_rows_(n) {
  std::fill(low_.begin(), low_.end(), kInf);
  std::fill(high_.begin(), high_.end(), -kInf);
  std::fill(first_rows_.begin(), first_rows_.end(), std::numeric_limits<std::int64_t>::max());
}

void BoxLevel::widen(std::int64_t box, std::int64_t column, float low, float high) {
  const std::int64_t at = place(box, column);
  const bool missing = low != low || high != high;
  low_[at] = std::min(low_[at], missing ? -kInf : low);
  high_[at] = std::max(high_[at], missing ? kInf : high);
}

void BoxLevel::add_row(std::int64_t box, std::int64_t row) {
  first_rows_[box] = std::min(first_rows_[box], row);
}

BoxTree::BoxTree(BoxLevel blocks, ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t n_columns = blocks.n_columns_;
  levels_.push_back(std::move(blocks));
  while (levels_.back().n_boxes() > kBoxFan) {
    const BoxLevel& below = levels_.back();
    const std::int64_t n_groups = checked::ceil_div(below.n_boxes(), kBoxFan);
    BoxLevel level(n_groups, n_columns);
    constexpr std::int64_t kGroupsPerTask = 256;
    pool.parallel_for(checked::ceil_div(n_groups, kGroupsPerTask), cancel, [&](std::int64_t task, int) {
      const std::int64_t end = std::min((task + 1) * kGroupsPerTask, n_groups);
      for (std::int64_t group = task * kGroupsPerTask; group < end; ++group) {
        for (std::int64_t c = 0; c < n_columns; ++c) {
          // The boxes that a last group lacks hold nothing.
          const float* const low = below.low(group) + c * kBoxFan;
          const float* const high = below.high(group) + c * kBoxFan;
          level.widen(group, c, *std::min_element(low, low + kBoxFan), *std::max_element(high, high + kBoxFan));
        }
        const std::int64_t first = group * kBoxFan, last = std::min<std::int64_t>(first + kBoxFan, below.n_boxes());
        for (std::int64_t box = first; box < last; ++box) level.add_row(group, below.first_row(box));
      }
    });
    levels_.push_back(std::move(level));
  }
}

}  // namespace stope::knn
