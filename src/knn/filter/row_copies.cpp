#include "knn/filter/row_copies.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kRowsPerTask = 4096;
static_assert(kRowsPerTask % kScanBlockRows == 0);

}  // namespace

NearRows make_near_rows(const TrainImages& images, const TrainPart& part, std::int64_t width, ThreadPool& pool,
                        const CancelToken& cancel) {
  NearRows near{Buffer<double>(checked::mul(images.n_rows, width))};
  prefer_huge_pages(near.rows.data(), static_cast<std::size_t>(near.rows.size()) * sizeof(double));
  pool.parallel_for(checked::ceil_div(images.n_rows, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min((task + 1) * kRowsPerTask, images.n_rows);
    double* to = near.rows.data() + task * kRowsPerTask * width;
    for (std::int64_t position = task * kRowsPerTask; position < end; ++position) {
      const double* const from = part.rows + images.row(position) * width;
      for (std::int64_t c = 0; c < width; ++c) *to++ = from[c];
    }
  });
  return near;
}

ValueBlocks make_value_blocks(const TrainImages& images, const TrainPart& part, std::int64_t width, ThreadPool& pool,
                              const CancelToken& cancel) {
  const std::int64_t n_slots = images.n_blocks * kScanBlockRows;
  ValueBlocks blocks{Buffer<double>(checked::mul(n_slots, width))};
  prefer_huge_pages(blocks.values.data(), static_cast<std::size_t>(blocks.values.size()) * sizeof(double));
  pool.parallel_for(checked::ceil_div(n_slots, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min((task + 1) * kRowsPerTask, n_slots);
    for (std::int64_t first = task * kRowsPerTask; first < end; first += kScanBlockRows) {
      // The rows lie anywhere in memory. Those of the next block arrive while this one is written.
      for (std::int64_t next = first + kScanBlockRows; next < std::min(first + 2 * kScanBlockRows, images.n_rows);
           ++next) {
        const double* const row = part.rows + images.row(next) * width;
        __builtin_prefetch(row);
        __builtin_prefetch(row + width - 1);
      }
      double* const block = blocks.values.data() + first * width;
      const std::int64_t n = std::min<std::int64_t>(kScanBlockRows, images.n_rows - first);
      if (n < kScanBlockRows) std::fill_n(block, kScanBlockRows * width, std::numeric_limits<double>::infinity());
      for (std::int64_t i = 0; i < n; ++i) {
        const double* const row = part.rows + images.row(first + i) * width;
        for (std::int64_t c = 0; c < width; ++c) block[c * kScanBlockRows + i] = row[c];
      }
    }
  });
  return blocks;
}

}  // namespace stope::knn
