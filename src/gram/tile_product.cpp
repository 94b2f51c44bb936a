// Which of the compiled products of tiles this CPU runs.
#include "gram/tile_product.hpp"

#include "base/simd/cpu.hpp"

namespace stope::gram {

int tile_products(TileProduct (&out)[3]) {
  int n = 0;
  out[n++] = scalar::tile_product;
  if (simd::has_avx2()) out[n++] = avx2::tile_product;
  if (simd::has_avx512()) out[n++] = avx512::tile_product;
  return n;
}

TileProduct tile_product() {
  static const TileProduct best = [] {
    TileProduct known[3] = {};
    const int n = tile_products(known);
    return known[n - 1];
  }();
  return best;
}

}  // namespace stope::gram
