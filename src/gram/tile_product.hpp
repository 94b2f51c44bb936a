// The inner product of every dense step of PCA and least squares: a 16 x 16 tile of a^T b. It is compiled once per
// instruction set. Each entry is one chain of fused multiply-adds in the order of the depth, so that all of
// them give the same bits.
#pragma once

#include <cstdint>

namespace stope::gram {

/// Columns of a packed tile. A row takes two 64-byte vectors; a leaf of 256 rows of two tiles fills 64 kB.
inline constexpr std::int64_t kTile = 16;

/// The entries of a tile that are wanted: the first rows and columns or, on the diagonal of a symmetric product, those
/// on and above the tile's diagonal. Others may be computed, too.
struct TileShape {
  std::int64_t n_rows = kTile, n_columns = kTile;
  bool on_diagonal = false;
};

/// c[i * stride + j] += the sum over r < depth of a[r * 16 + i] * b[r * 16 + j]. `a` and `b` are 64-byte aligned.
using TileProduct = void (*)(const double* a, const double* b, std::int64_t depth, const TileShape& shape, double* c,
                             std::int64_t stride);

/// Numbers from one row to the next where rows are multiplied as they lie: a leaf and some more, so that rows fall into
/// different sets of the cache.
inline constexpr std::int64_t kRowStride = 256 + 8;

/// c[i * stride + j] += the sum over r < depth of a[i * kRowStride + r] * b[r * 16 + j], for j < n_columns <= 16. There
/// is room for n_rows rounded up to a multiple of 8 in a and c, and for 16 columns in c; other entries may be computed,
/// too.
using RowsProduct = void (*)(const double* a, const double* b, std::int64_t depth, std::int64_t n_rows,
                             std::int64_t n_columns, double* c, std::int64_t stride);

struct TileProducts {
  TileProduct of_tiles;
  RowsProduct of_rows;
};

/// The fastest one that this CPU runs.
TileProduct tile_product();
RowsProduct rows_product();

/// All that this CPU runs, for tests: at most three, the portable one first.
int tile_products(TileProducts (&out)[3]);

namespace scalar {
extern const TileProducts kTileProducts;
}
namespace avx2 {
extern const TileProducts kTileProducts;
}
namespace avx512 {
extern const TileProducts kTileProducts;
}

}  // namespace stope::gram
