#include "knn/search/order_cost.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "knn/filter/scan/scan.hpp"

namespace stope::knn {
namespace {

constexpr double kNano = 1e-9;
// CPU times of two threads with AVX-512, 1M and 10M rows of 2 and 3 columns, k = 10 (docs/PERFORMANCE.md).
constexpr double kDirectValue = 0.8 * kNano, kCachedValue = 0.3 * kNano;  // a query that reads the rows themselves
constexpr double kCachedBytes = 4e6;                                      // they come from memory beyond that
constexpr double kScanRow = 0.08 * kNano, kScanValue = 0.03 * kNano;      // one of many that share images
constexpr double kImageValue = 5.0 * kNano;
constexpr double kOrderLevel = 1.5 * kNano;  // a value of a row, or its number, in each level of halves
constexpr double kOrderFirst = 0.5e-3;       // a sample of the rows
constexpr double kThroughBoxes = 1.5e-6;     // a query of up to 3 columns
constexpr double kMoreBoxes = 1.4;           // as much for each further column
constexpr std::int64_t kFewQueries = 8;      // fewer read the rows themselves

// A query's way through the boxes.
double through_boxes(std::int64_t n_columns) {
  double cost = kThroughBoxes;
  for (std::int64_t column = 3; column < n_columns; ++column) cost *= kMoreBoxes;
  return cost;
}

// Without AVX-512 all of these take longer, by about as much.
double slower(device::Backend backend) {
  switch (backend) {
    case device::Backend::avx512vnni:
    case device::Backend::avx512: return 1.0;
    case device::Backend::avx2: return 1.5;
    default: return 4.0;
  }
}

}  // namespace

OrderCost order_cost(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_queries, bool has_images,
                     device::Backend backend) {
  const auto rows = static_cast<double>(n_rows), columns = static_cast<double>(n_columns);
  const auto queries = static_cast<double>(n_queries);
  const double factor = slower(backend);
  const double values = rows * columns;
  const bool cached = values * sizeof(double) <= kCachedBytes;
  const double direct = queries * values * (cached ? kCachedValue : kDirectValue);  // it has no vectors of its own
  const double images =
      (has_images ? 0.0 : values * kImageValue) + factor * queries * rows * (kScanRow + columns * kScanValue);
  const std::int64_t n_blocks = std::max<std::int64_t>(checked::ceil_div(n_rows, kScanBlockRows), 2);
  const auto levels = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(n_blocks - 1)));
  return {.scan = n_queries < kFewQueries ? direct : std::min(direct, images),
          .order = kOrderFirst + factor * rows * levels * (columns + 1.0) * kOrderLevel,
          .through = factor * queries * through_boxes(n_columns)};
}

}  // namespace stope::knn
