// Makes images row by row, for queries; places training rows in blocks, and boxes around them.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

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
  train.rows = near_order(images.rows.data(), n, n_columns, kScanBlockRows, pool, cancel);
  const std::vector<float> anywhere(static_cast<std::size_t>(n_columns), std::numeric_limits<float>::quiet_NaN());
  Boxes fine = boxes_around(n, kScanBlockRows, n_columns, cancel, [&](std::int64_t position) {
    // The image of a row that is always listed says too little about where the row is, so its box is open.
    const std::int64_t row = train.row(position);
    const float* image =
        images.residuals[row] <= train.residual ? images.rows.data() + row * n_columns : anywhere.data();
    return std::pair{image, image};
  });
  Boxes coarse = boxes_around(train.n_blocks, TrainImages::kCoarse, n_columns, cancel, [&](std::int64_t block) {
    return std::pair<const float*, const float*>{fine.low.data() + block * n_columns,
                                                 fine.high.data() + block * n_columns};
  });
  train.low = fine.low, train.high = fine.high;
  train.coarse_low = coarse.low, train.coarse_high = coarse.high;
  return train;
}

}  // namespace stope::knn
