// Which of the compiled products of tiles this CPU runs.
#include "gram/tile_product.hpp"

#include "base/simd/cpu.hpp"

namespace stope::gram {

int tile_products(TileProducts (&out)[3]) {
  int n = 0;
  out[n++] = scalar::kTileProducts;
  if (simd::has_avx2()) out[n++] = avx2::kTileProducts;
  if (simd::has_avx512()) out[n++] = avx512::kTileProducts;
  return n;
}

namespace {

const TileProducts& best() {
  static const TileProducts found = [] {
    TileProducts known[3] = {};
    const int n = tile_products(known);
    return known[n - 1];
  }();
  return found;
}

}  // namespace

TileProduct tile_product() {
  return best().of_tiles;
}

RowsProduct rows_product() {
  return best().of_rows;
}

}  // namespace stope::gram
