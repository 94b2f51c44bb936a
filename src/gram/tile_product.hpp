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

/// The fastest one that this CPU runs.
TileProduct tile_product();

/// All that this CPU runs, for tests: at most three, the portable one first.
int tile_products(TileProduct (&out)[3]);

namespace scalar {
void tile_product(const double* a, const double* b, std::int64_t depth, const TileShape& shape, double* c,
                  std::int64_t stride);
}
namespace avx2 {
void tile_product(const double* a, const double* b, std::int64_t depth, const TileShape& shape, double* c,
                  std::int64_t stride);
}
namespace avx512 {
void tile_product(const double* a, const double* b, std::int64_t depth, const TileShape& shape, double* c,
                  std::int64_t stride);
}

}  // namespace stope::gram
