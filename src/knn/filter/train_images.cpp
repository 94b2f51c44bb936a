// Makes images of whole tables: in blocks for the training rows, row by row for queries.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

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

// Makes rows that are always listed rows of missing values. Their images say too little about where they are, so the
// boxes around them are open; together in few blocks they open few.
void hide_images(double usual, std::int64_t n_columns, RowImages& images, ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t n = images.residuals.size();
  pool.parallel_for(checked::ceil_div(n, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min((task + 1) * kRowsPerTask, n);
    for (std::int64_t r = task * kRowsPerTask; r < end; ++r) {
      if (images.residuals[r] <= usual) continue;
      std::fill_n(images.rows.data() + r * n_columns, n_columns, std::numeric_limits<float>::quiet_NaN());
    }
  });
}

// Puts the box around the `n` rows of a block.
void put_box(const float* block, std::int64_t number, std::int64_t n, std::int64_t n_columns, BoxLevel& boxes) {
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const float* const column = block + c * kScanBlockRows;
    float low = std::numeric_limits<float>::infinity(), high = -low;
    bool missing = false;
    for (std::int64_t i = 0; i < n; ++i) {
      low = column[i] < low ? column[i] : low;
      high = column[i] > high ? column[i] : high;
      missing |= column[i] != column[i];
    }
    boxes.widen(number, c, missing ? std::numeric_limits<float>::quiet_NaN() : low, high);
  }
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
  constexpr std::int64_t kBlocksPerTask = 64;
  const std::int64_t n = part.n, n_columns = map.n_columns();
  RowImages images = make_row_images(map, part.rows, n, width, pool, cancel);
  TrainImages train;
  train.n_rows = n;
  train.n_blocks = checked::ceil_div(n, kScanBlockRows);
  const double usual = usual_residual(images.residuals);
  if (order == BlockOrder::near) {
    hide_images(usual, n_columns, images, pool, cancel);
    train.rows = near_order(images.rows.data(), n, n_columns, kScanBlockRows, pool, cancel);
  }
  BoxLevel boxes(train.ordered() ? train.n_blocks : 0, n_columns);
  train.blocks = Buffer<float>(checked::mul(checked::mul(train.n_blocks, kScanBlockRows), n_columns));
  prefer_huge_pages(train.blocks.data(), static_cast<std::size_t>(train.blocks.size()) * sizeof(float));
  train.always.assign(static_cast<std::size_t>(train.n_blocks), 0);
  std::atomic<bool> missing{false};
  if (train.ordered() && width <= TrainImages::kMostNearColumns) {
    train.near_rows = Buffer<double>(checked::mul(n, width));
    prefer_huge_pages(train.near_rows.data(), static_cast<std::size_t>(train.near_rows.size()) * sizeof(double));
  }
  const auto fill = [&](std::int64_t number) {
    float* block = train.blocks.data() + number * kScanBlockRows * n_columns;
    const std::int64_t first = number * kScanBlockRows, count = std::min<std::int64_t>(kScanBlockRows, n - first);
    if (count < kScanBlockRows) {
      std::fill_n(block, kScanBlockRows * n_columns, std::numeric_limits<float>::quiet_NaN());
    }
    if (!train.near_rows.empty()) {
      // A loop of its own, so that many rows are on their way from memory at once.
      double* to = train.near_rows.data() + first * width;
      for (std::int64_t i = 0; i < count; ++i) {
        const double* const from = part.rows + train.row(first + i) * width;
        for (std::int64_t c = 0; c < width; ++c) *to++ = from[c];
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = train.row(first + i);
      const float* image = images.rows.data() + row * n_columns;
      double residual = 0.0;
      float short_image[2 * TrainImages::kMostNearColumns];
      if (train.near_rows.empty()) {
        residual = images.residuals[row];
      } else {
        // The image is made once more from the row, which is near: to read it would be another cache miss.
        residual = map.map(train.near_rows.data() + (first + i) * width, short_image);
        if (!(residual <= usual)) std::fill_n(short_image, n_columns, std::numeric_limits<float>::quiet_NaN());
        image = short_image;
      }
      bool lacks = false;
      for (std::int64_t c = 0; c < n_columns; ++c) {
        block[c * kScanBlockRows + i] = image[c];
        lacks |= image[c] != image[c];
      }
      if (!(residual <= usual)) {
        train.always[static_cast<std::size_t>(number)] |= std::uint64_t{1} << i;
      } else if (lacks) {
        missing.store(true, std::memory_order_relaxed);
      }
    }
    if (!train.ordered()) return;
    put_box(block, number, count, n_columns, boxes);
    for (std::int64_t i = 0; i < count; ++i) boxes.add_row(number, train.row(first + i));
  };
  pool.parallel_for(checked::ceil_div(train.n_blocks, kBlocksPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min((task + 1) * kBlocksPerTask, train.n_blocks);
    for (std::int64_t number = task * kBlocksPerTask; number < end; ++number) fill(number);
  });
  if (train.ordered()) train.boxes = BoxTree(std::move(boxes), pool, cancel);
  train.missing = missing.load();
  train.residual = usual;
  return train;
}

}  // namespace stope::knn
