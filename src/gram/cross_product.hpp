// Sums of outer products over many rows, a^T b: covariances, scores, components, projections. The sums have a fixed
// shape.
#pragma once

#include <cstdint>
#include <functional>

#include "base/row_sums.hpp"
#include "base/thread_pool.hpp"
#include "gram/tile_product.hpp"
#include "stope/run.hpp"

namespace stope::gram {

/// The shape of every sum over the depth is that of base/row_sums.hpp. It depends on the depth alone, not on threads or
/// tiles. A leaf of eight tiles, a task's operands, takes 256 kB.
inline constexpr std::int64_t kLeafRows = kSumLeafRows;
inline constexpr std::int64_t kGroupRows = kSumGroupRows;
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
  /// The same for tiles [first, first + n), `tile_stride` numbers from one to the next. Matrices that lie by rows have
  /// a better way than tile by tile.
  virtual void pack_tiles(std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end, double* out,
                          std::int64_t tile_stride) const {
    for (std::int64_t t = 0; t < n; ++t) pack(first + t, begin, end, out + t * tile_stride);
  }
};

/// c (a.width() x b.width(), row-major) = a^T b over `depth` rows. Small results are held once for every level of the
/// tree, and threads share the rows. Large ones are computed block by block, and each thread has one tree. If &a == &b,
/// only one half is computed, and mirrored. Adds the rows that are summed up to `progress`.
void cross_product(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                   const CancelToken& cancel, double* c, PhaseProgress* progress = nullptr);

/// One block of a^T b: rows [row, row + n_rows), columns [column, column + n_columns), values[i * kBlock + j].
struct ProductBlock {
  std::int64_t row, n_rows, column, n_columns;
  const double* values;
};

/// Computes the same sums block by block, in any order, for results too large to be held more than once. `store` is
/// called from several threads at once. Adds the rows of the result that are stored to `progress`.
void for_each_block(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                    const CancelToken& cancel, const std::function<void(const ProductBlock&)>& store,
                    PhaseProgress* progress = nullptr);

/// Bytes that cross_product holds besides c.
std::int64_t cross_product_bytes(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, int threads);

}  // namespace stope::gram
