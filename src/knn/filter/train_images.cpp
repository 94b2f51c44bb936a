// Makes images row by row, for queries; places training rows in blocks, and boxes around them.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/filter/image_map.hpp"
#include "knn/filter/near_order.hpp"
#include "knn/filter/row_mapper.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kRowsPerTask = 4096;

// What a sample of the rows says about usual ones.
struct Usual {
  double residual = 0.0, size = 0.0;
};

float largest_number(const float* image, std::int64_t n) {
  // Compilers make vectors of the inner loop. A missing value is not larger.
  constexpr std::int64_t kLanes = 16;
  float largest[kLanes] = {};
  for (std::int64_t c = 0; c < n; c += kLanes) {
    for (std::int64_t i = 0; i < std::min(kLanes, n - c); ++i) {
      const float size = std::fabs(image[c + i]);
      largest[i] = size > largest[i] ? size : largest[i];
    }
  }
  return *std::max_element(largest, largest + kLanes);
}

// Rows far above the usual residual are always listed instead of widening every bound: a few outliers would otherwise
// spoil the precision of all. Numbers above the usual size are cut off at the largest step (byte_steps.hpp) instead of
// making every step coarser.
Usual usual_of(const RowMapper& mapper, const TrainPart& part, std::int64_t width) {
  constexpr std::int64_t kMostRows = 4096, kMostValues = std::int64_t{1} << 22;
  const ImageMap& map = mapper.image_map();
  const std::int64_t n = std::min(std::clamp<std::int64_t>(kMostValues / map.n_columns(), 256, kMostRows), part.n);
  std::vector<float> image(static_cast<std::size_t>(map.n_columns()));
  std::vector<std::pair<double, float>> sample;  // residual, largest number
  sample.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const double residual = mapper.map(part.rows + i * part.n / n * width, image.data());
    if (!std::isnan(residual)) sample.emplace_back(residual, largest_number(image.data(), map.n_numeric()));
  }
  if (sample.empty()) return {};
  const auto all_but_one_in = [&](std::size_t share) {
    return sample.begin() + static_cast<std::ptrdiff_t>(sample.size() - 1 - sample.size() / share);
  };
  const auto at = all_but_one_in(256);
  std::nth_element(sample.begin(), at, sample.end());
  Usual usual{.residual = 2.0 * at->first};
  std::erase_if(sample, [&](const auto& row) { return row.first > usual.residual; });
  const auto large = all_but_one_in(512);
  std::nth_element(sample.begin(), large, sample.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  usual.size = static_cast<double>(large->second);
  return usual;
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

// Puts the box around `n` images.
void put_box(const float* rows, std::int64_t number, std::int64_t n, std::int64_t n_columns, BoxLevel& boxes) {
  for (std::int64_t c = 0; c < n_columns; ++c) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    bool missing = false;
    for (std::int64_t i = 0; i < n; ++i) {
      const float value = rows[i * n_columns + c];
      low = value < low ? value : low;
      high = value > high ? value : high;
      missing |= value != value;
    }
    boxes.widen(number, c, missing ? std::numeric_limits<float>::quiet_NaN() : low, high);
  }
}

// Puts the images into the order of the blocks, so that near rows lie side by side, and makes the boxes and the copies
// of short rows on the way.
void order_rows(const RowMapper& mapper, const TrainPart& part, std::int64_t width, RowImages& images,
                TrainImages& train, ThreadPool& pool, const CancelToken& cancel) {
  constexpr std::int64_t kBlocksPerTask = 64;
  const std::int64_t n_columns = mapper.image_map().n_columns();
  RowImages ordered{Buffer<float>(checked::mul(train.n_rows, n_columns)), Buffer<double>(train.n_rows), images.missing};
  prefer_huge_pages(ordered.rows.data(), static_cast<std::size_t>(ordered.rows.size()) * sizeof(float));
  if (width <= TrainImages::kMostNearColumns) {
    train.near_rows = Buffer<double>(checked::mul(train.n_rows, width));
    prefer_huge_pages(train.near_rows.data(), static_cast<std::size_t>(train.near_rows.size()) * sizeof(double));
  }
  BoxLevel boxes(train.n_blocks, n_columns);
  const auto put_block = [&](std::int64_t number) {
    const std::int64_t first = number * kScanBlockRows, end = std::min(first + kScanBlockRows, train.n_rows);
    if (!train.near_rows.empty()) {
      // A loop of its own, so that many rows are on their way from memory at once.
      double* to = train.near_rows.data() + first * width;
      for (std::int64_t position = first; position < end; ++position) {
        const double* const from = part.rows + train.row(position) * width;
        for (std::int64_t c = 0; c < width; ++c) *to++ = from[c];
      }
    }
    for (std::int64_t position = first; position < end; ++position) {
      const std::int64_t row = train.row(position);
      float* const image = ordered.rows.data() + position * n_columns;
      boxes.add_row(number, row);
      if (train.near_rows.empty()) {
        std::copy_n(images.rows.data() + row * n_columns, n_columns, image);
        ordered.residuals[position] = images.residuals[row];
        continue;
      }
      // The image is made once more from the row, which is near: to read it would be another cache miss.
      const double residual = mapper.map(train.near_rows.data() + position * width, image);
      ordered.residuals[position] = residual;
      if (!(residual <= train.residual)) std::fill_n(image, n_columns, std::numeric_limits<float>::quiet_NaN());
    }
    put_box(ordered.rows.data() + first * n_columns, number, end - first, n_columns, boxes);
  };
  pool.parallel_for(checked::ceil_div(train.n_blocks, kBlocksPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min((task + 1) * kBlocksPerTask, train.n_blocks);
    for (std::int64_t number = task * kBlocksPerTask; number < end; ++number) put_block(number);
  });
  train.boxes = BoxTree(std::move(boxes), pool, cancel);
  images = std::move(ordered);
}

}  // namespace

RowImages make_row_images(const RowMapper& mapper, const double* rows, std::int64_t n, std::int64_t width,
                          ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t n_columns = mapper.image_map().n_columns();
  RowImages images{Buffer<float>(checked::mul(n, n_columns)), Buffer<double>(n)};
  prefer_huge_pages(images.rows.data(), static_cast<std::size_t>(images.rows.size()) * sizeof(float));
  std::atomic<bool> missing{false};
  pool.parallel_for(checked::ceil_div(n, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min((task + 1) * kRowsPerTask, n);
    bool lacks = false;
    for (std::int64_t r = task * kRowsPerTask; r < end; ++r) {
      float* const image = images.rows.data() + r * n_columns;
      images.residuals[r] = mapper.map(rows + r * width, image);
      if (!std::isnan(images.residuals[r])) {
        for (std::int64_t c = 0; c < n_columns; ++c) lacks |= image[c] != image[c];
      }
    }
    if (lacks) missing.store(true, std::memory_order_relaxed);
  });
  images.missing = missing.load();
  return images;
}

TrainImages make_train_images(const RowMapper& mapper, const TrainPart& part, std::int64_t width, BlockOrder order,
                              RowImages& images, ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t n = part.n, n_columns = mapper.image_map().n_columns();
  const Usual usual = usual_of(mapper, part, width);
  TrainImages train;
  train.n_rows = n;
  train.n_blocks = checked::ceil_div(n, kScanBlockRows);
  train.residual = usual.residual;
  train.usual_size = usual.size;
  train.missing = mapper.image_map().lacks_values();
  if (order == BlockOrder::table) return train;
  images = make_row_images(mapper, part.rows, n, width, pool, cancel);
  hide_images(train.residual, n_columns, images, pool, cancel);
  train.rows = near_order(images.rows.data(), n, n_columns, kScanBlockRows, pool, cancel);
  order_rows(mapper, part, width, images, train, pool, cancel);
  return train;
}

}  // namespace stope::knn
