// Makes images of whole tables: in blocks for the training rows, row by row for queries.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/filter/image_map.hpp"
#include "knn/filter/near_order.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kRowsPerTask = 4096;

// Returns the largest residual that counts as usual. Rows far above it are always listed instead of widening every
// bound: a few outliers would otherwise spoil the precision of all.
double usual_residual(const Buffer<double>& residuals) {
  std::vector<double> sample;
  const std::int64_t step = std::max<std::int64_t>(1, residuals.size() / 4096);
  for (std::int64_t i = 0; i < residuals.size(); i += step) {
    if (!std::isnan(residuals[i])) sample.push_back(residuals[i]);
  }
  if (sample.empty()) return 0.0;
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() - 1 - sample.size() / 256);
  std::nth_element(sample.begin(), at, sample.end());
  return 2.0 * *at;
}

struct Boxes {
  Buffer<float> low, high;
};

void widen(float* low, float* high, const float* other_low, const float* other_high, std::int64_t n_columns) {
  for (std::int64_t c = 0; c < n_columns; ++c) {
    if (std::isnan(other_low[c])) {  // a missing value is at no distance from any value
      low[c] = -std::numeric_limits<float>::infinity();
      high[c] = std::numeric_limits<float>::infinity();
      continue;
    }
    low[c] = std::min(low[c], other_low[c]);
    high[c] = std::max(high[c], other_high[c]);
  }
}

// Makes boxes, each around `group` consecutive boxes (or images).
template <class Corner>
Boxes boxes_around(std::int64_t n, std::int64_t group, std::int64_t n_columns, const CancelToken& cancel,
                   const Corner& corners) {
  const std::int64_t n_boxes = checked::ceil_div(n, group);
  Boxes boxes{Buffer<float>(n_boxes * n_columns), Buffer<float>(n_boxes * n_columns)};
  std::fill(boxes.low.begin(), boxes.low.end(), std::numeric_limits<float>::infinity());
  std::fill(boxes.high.begin(), boxes.high.end(), -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < n; ++i) {
    if (i % 65536 == 0) cancel.check();
    const auto [low, high] = corners(i);
    widen(boxes.low.data() + i / group * n_columns, boxes.high.data() + i / group * n_columns, low, high, n_columns);
  }
  return boxes;
}

}  // namespace

RowImages make_row_images(const ImageMap& map, const double* rows, std::int64_t n, std::int64_t width, ThreadPool& pool,
                          const CancelToken& cancel) {
  RowImages images{Buffer<float>(checked::mul(n, map.n_columns())), Buffer<double>(n)};
  prefer_huge_pages(images.rows.data(), static_cast<std::size_t>(images.rows.size()) * sizeof(float));
  pool.parallel_for(checked::ceil_div(n, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min((task + 1) * kRowsPerTask, n);
    for (std::int64_t r = task * kRowsPerTask; r < end; ++r) {
      images.residuals[r] = map.map(rows + r * width, images.rows.data() + r * map.n_columns());
    }
  });
  return images;
}

TrainImages make_train_images(const ImageMap& map, const TrainPart& part, std::int64_t width, BlockOrder order,
                              ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t n = part.n, n_columns = map.n_columns();
  const RowImages images = make_row_images(map, part.rows, n, width, pool, cancel);
  TrainImages train;
  train.n_rows = n;
  train.n_blocks = checked::ceil_div(n, kScanBlockRows);
  const double usual = usual_residual(images.residuals);
  if (order == BlockOrder::near) {
    train.rows = near_order(images.rows.data(), n, n_columns, kScanBlockRows, pool, cancel);
    const std::vector<float> anywhere(static_cast<std::size_t>(n_columns), std::numeric_limits<float>::quiet_NaN());
    Boxes fine = boxes_around(n, kScanBlockRows, n_columns, cancel, [&](std::int64_t position) {
      // The image of a row that is always listed says too little about where the row is, so its box is open.
      const std::int64_t row = train.row(position);
      const float* image = images.residuals[row] <= usual ? images.rows.data() + row * n_columns : anywhere.data();
      return std::pair{image, image};
    });
    Boxes coarse = boxes_around(train.n_blocks, TrainImages::kCoarse, n_columns, cancel, [&](std::int64_t block) {
      return std::pair<const float*, const float*>{fine.low.data() + block * n_columns,
                                                   fine.high.data() + block * n_columns};
    });
    train.low = fine.low, train.high = fine.high;
    train.coarse_low = coarse.low, train.coarse_high = coarse.high;
  }
  train.blocks = Buffer<float>(checked::mul(checked::mul(train.n_blocks, kScanBlockRows), n_columns));
  prefer_huge_pages(train.blocks.data(), static_cast<std::size_t>(train.blocks.size()) * sizeof(float));
  train.always.assign(static_cast<std::size_t>(train.n_blocks), 0);
  std::atomic<bool> missing{false};
  pool.parallel_for(train.n_blocks, cancel, [&](std::int64_t number, int) {
    float* block = train.blocks.data() + number * kScanBlockRows * n_columns;
    for (std::int64_t i = 0; i < kScanBlockRows; ++i) {
      const std::int64_t position = number * kScanBlockRows + i;
      for (std::int64_t c = 0; c < n_columns; ++c) {
        block[c * kScanBlockRows + i] =
            position < n ? images.rows[train.row(position) * n_columns + c] : std::numeric_limits<float>::quiet_NaN();
      }
      if (position >= n) continue;
      if (!(images.residuals[train.row(position)] <= usual)) {
        train.always[static_cast<std::size_t>(number)] |= std::uint64_t{1} << i;
        continue;
      }
      for (std::int64_t c = 0; c < n_columns; ++c) {
        if (std::isnan(block[c * kScanBlockRows + i])) missing.store(true, std::memory_order_relaxed);
      }
    }
  });
  train.missing = missing.load();
  train.residual = usual;
  return train;
}

}  // namespace stope::knn
