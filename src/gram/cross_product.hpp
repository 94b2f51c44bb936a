// Sums of outer products over many rows, a^T b: covariances, scores, components, projections. The sums have a fixed
// shape.
#pragma once

#include <cstdint>
#include <functional>

#include "base/thread_pool.hpp"
#include "gram/tile_product.hpp"
#include "stope/run.hpp"

namespace stope::gram {

/// The shape of every sum over the depth: leaves of 256 rows in order, 16 leaves to a group in order, groups in order.
/// It depends on the depth alone, not on threads or tiles. A leaf of eight tiles, a task's operands, takes 256 kB.
inline constexpr std::int64_t kLeafRows = 256;
inline constexpr std::int64_t kGroupRows = 16 * kLeafRows;
/// Outputs are computed in blocks of 4 x 4 tiles.
inline constexpr std::int64_t kBlock = 4 * kTile;

/// A matrix that is read tile by tile. It has `width` columns, and as many rows as the product is deep.
class PanelSource {
 public:
  PanelSource() = default;
  virtual ~PanelSource() = default;
  PanelSource(const PanelSource&) = delete;
  PanelSource& operator=(const PanelSource&) = delete;

  virtual std::int64_t width() const = 0;
  /// Writes rows [begin, end) of columns [16 tile, 16 tile + 16) to out[(row - begin) * 16 + column], and zeros beyond
  /// the width. It is called from several threads at once.
  virtual void pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const = 0;
};

/// c (a.width() x b.width(), row-major) = a^T b over `depth` rows. It is meant for small results: memory holds c
/// several times, and threads share the rows. If &a == &b, only one half is computed, and mirrored.
void cross_product(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                   const CancelToken& cancel, double* c);

/// One block of a^T b: rows [row, row + n_rows), columns [column, column + n_columns), values[i * kBlock + j].
struct ProductBlock {
  std::int64_t row, n_rows, column, n_columns;
  const double* values;
};

/// Computes the same sums block by block, in any order, for results too large to be held more than once. `store` is
/// called from several threads at once.
void for_each_block(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                    const CancelToken& cancel, const std::function<void(const ProductBlock&)>& store);

/// Bytes that cross_product holds besides c.
std::int64_t cross_product_bytes(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, int threads);

}  // namespace stope::gram
