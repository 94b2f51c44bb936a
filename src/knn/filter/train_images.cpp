// Makes images row by row, for queries; places training rows in blocks, and boxes around them.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/filter/image_map.hpp"
#include "knn/filter/moved_rows.hpp"
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

// Calls work(row, image, residual) for every row, in parallel.
template <class Work>
void map_rows(const RowMapper& mapper, const TrainPart& part, std::int64_t width, ThreadPool& pool,
              const CancelToken& cancel, const Work& work) {
  pool.parallel_for(checked::ceil_div(part.n, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    std::vector<float> image(static_cast<std::size_t>(mapper.image_map().n_columns()));
    const std::int64_t end = std::min((task + 1) * kRowsPerTask, part.n);
    for (std::int64_t r = task * kRowsPerTask; r < end; ++r) {
      const double residual = mapper.map(part.rows + r * width, image.data());
      work(r, image.data(), residual);
    }
  });
}

// Puts the box around the rows of a block. Behind the last row of the table a block has no rows.
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

// Makes the boxes around blocks, and the blocks if they are wanted. put(position, n, block) writes the images of the
// rows of a block, and returns those that are always listed. Their images say too little about where they are, and are
// missing: the boxes around them are open, and together in few blocks they open few.
template <class Put>
void put_blocks(std::int64_t n_columns, TrainImages& train, FloatBlocks* floats, ThreadPool& pool,
                const CancelToken& cancel, const Put& put) {
  constexpr std::int64_t kBlocksPerTask = 64;
  const std::int64_t block_size = kScanBlockRows * n_columns;
  if (floats != nullptr) {
    floats->blocks = Buffer<float>(checked::mul(train.n_blocks, block_size));
    prefer_huge_pages(floats->blocks.data(), static_cast<std::size_t>(floats->blocks.size()) * sizeof(float));
    floats->always.assign(static_cast<std::size_t>(train.n_blocks), 0);
  }
  BoxLevel boxes(train.n_blocks, n_columns);
  pool.parallel_for(checked::ceil_div(train.n_blocks, kBlocksPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min((task + 1) * kBlocksPerTask, train.n_blocks);
    std::vector<float> room(floats == nullptr ? static_cast<std::size_t>(block_size) : 0);
    for (std::int64_t number = task * kBlocksPerTask; number < end; ++number) {
      const std::int64_t first = number * kScanBlockRows,
                         n = std::min<std::int64_t>(kScanBlockRows, train.n_rows - first);
      float* const block = floats == nullptr ? room.data() : floats->blocks.data() + number * block_size;
      if (n < kScanBlockRows) std::fill_n(block, block_size, std::numeric_limits<float>::quiet_NaN());
      const std::uint64_t always = put(first, n, block);
      if (floats != nullptr) floats->always[static_cast<std::size_t>(number)] = always;
      put_box(block, number, n, n_columns, boxes);
      const auto rows = train.rows.begin() + first;
      boxes.add_row(number, *std::min_element(rows, rows + n));
    }
  });
  train.boxes = BoxTree(std::move(boxes), pool, cancel);
}

// Makes the keys of rows that are only numbers, many rows at once. put_tag(row, residual) says whether a row is always
// listed.
template <class PutTag>
void map_columns(const RowMapper& mapper, const TrainPart& part, MovedRows& rows, const PutTag& put_tag,
                 ThreadPool& pool, const CancelToken& cancel) {
  constexpr std::int64_t kTogether = RowMapper::kRowsTogether;
  static_assert(kRowsPerTask % kTogether == 0);
  const std::int64_t n_columns = rows.n_columns();
  pool.parallel_for(checked::ceil_div(part.n, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    float images[MovedRows::kMostColumns * kTogether];
    double residuals[kTogether];
    const std::int64_t end = std::min((task + 1) * kRowsPerTask, part.n);
    for (std::int64_t first = task * kRowsPerTask; first < end; first += kTogether) {
      const std::int64_t n = std::min(kTogether, end - first);
      mapper.map_columns(part.rows + first * n_columns, n, images, residuals);
      for (std::int64_t c = 0; c < n_columns; ++c) {
        std::int32_t* const keys = rows.keys(c) + first;
        for (std::int64_t i = 0; i < n; ++i) keys[i] = key_of(images[c * kTogether + i]);
      }
      for (std::int64_t i = 0; i < n; ++i) {
        if (!put_tag(first + i, residuals[i])) continue;
        for (std::int64_t c = 0; c < n_columns; ++c) rows.keys(c)[first + i] = kMissingKey;
      }
    }
  });
}

// Rows of few columns are moved when they are put into order, and stand in blocks afterwards. The sign of a row's tag
// says that it is always listed.
void order_few_columns(const RowMapper& mapper, const TrainPart& part, std::int64_t width, const SplitKernels& splits,
                       TrainImages& train, FloatBlocks* floats, ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t n_columns = mapper.image_map().n_columns();
  MovedRows rows(train.n_rows, n_columns);
  const auto put_tag = [&](std::int64_t r, double residual) {
    const bool always = !(residual <= train.residual);
    rows.tags()[r] = static_cast<std::int32_t>(r % kMostRowsOrdered) | (always ? INT32_MIN : 0);
    return always;
  };
  if (mapper.maps_columns() && n_columns == width) {
    map_columns(mapper, part, rows, put_tag, pool, cancel);
  } else {
    map_rows(mapper, part, width, pool, cancel, [&](std::int64_t r, const float* image, double residual) {
      const bool always = put_tag(r, residual);
      for (std::int64_t c = 0; c < n_columns; ++c) rows.keys(c)[r] = always ? kMissingKey : key_of(image[c]);
    });
  }
  rows.order(kScanBlockRows, splits, pool, cancel);
  put_blocks(n_columns, train, floats, pool, cancel, [&](std::int64_t first, std::int64_t n, float* block) {
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const std::int32_t* const keys = rows.keys(c) + first;
      for (std::int64_t i = 0; i < n; ++i) block[c * kScanBlockRows + i] = value_of(keys[i]);
    }
    std::uint64_t always = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t tag = rows.tags()[first + i];
      train.rows[first + i] = first / kMostRowsOrdered * kMostRowsOrdered + (tag & INT32_MAX);
      always |= std::uint64_t{tag < 0} << i;
    }
    return always;
  });
}

void order_many_columns(const RowMapper& mapper, const TrainPart& part, std::int64_t width, TrainImages& train,
                        FloatBlocks* floats, ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t n_columns = mapper.image_map().n_columns();
  RowImages images{Buffer<float>(checked::mul(train.n_rows, n_columns)), Buffer<double>(train.n_rows)};
  prefer_huge_pages(images.rows.data(), static_cast<std::size_t>(images.rows.size()) * sizeof(float));
  map_rows(mapper, part, width, pool, cancel, [&](std::int64_t r, const float* image, double residual) {
    float* const to = images.rows.data() + r * n_columns;
    images.residuals[r] = residual;
    if (residual <= train.residual) {
      std::copy_n(image, n_columns, to);
    } else {
      std::fill_n(to, n_columns, std::numeric_limits<float>::quiet_NaN());
    }
  });
  const std::vector<std::int64_t> order =
      near_order_by_number(images.rows.data(), train.n_rows, n_columns, kScanBlockRows, pool, cancel);
  std::copy(order.begin(), order.end(), train.rows.begin());
  put_blocks(n_columns, train, floats, pool, cancel, [&](std::int64_t first, std::int64_t n, float* block) {
    std::uint64_t always = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = train.rows[first + i];
      const float* const image = images.rows.data() + row * n_columns;
      for (std::int64_t c = 0; c < n_columns; ++c) block[c * kScanBlockRows + i] = image[c];
      always |= std::uint64_t{!(images.residuals[row] <= train.residual)} << i;
    }
    return always;
  });
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
                              const SplitKernels& splits, FloatBlocks* floats, ThreadPool& pool,
                              const CancelToken& cancel) {
  const Usual usual = usual_of(mapper, part, width);
  TrainImages train;
  train.n_rows = part.n;
  train.n_blocks = checked::ceil_div(part.n, kScanBlockRows);
  train.residual = usual.residual;
  train.usual_size = usual.size;
  train.missing = mapper.image_map().lacks_values();
  if (order == BlockOrder::table) return train;
  train.rows = Buffer<std::int64_t>(part.n);
  prefer_huge_pages(train.rows.data(), static_cast<std::size_t>(part.n) * sizeof(std::int64_t));
  if (mapper.image_map().n_columns() <= MovedRows::kMostColumns) {
    order_few_columns(mapper, part, width, splits, train, floats, pool, cancel);
  } else {
    order_many_columns(mapper, part, width, train, floats, pool, cancel);
  }
  return train;
}

}  // namespace stope::knn
