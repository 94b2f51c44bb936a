// The portable tile_product.inl, and the choice among the compiled ones by what this CPU runs.
#include "gram/tile_product.hpp"

#define STOPE_LANES 2
#define STOPE_ROWS 4
namespace stope::gram {
namespace {
#include "gram/tile_product.inl"
}  // namespace

void tile_product_portable(const double* a, const double* b, std::int64_t depth, double* c) {
  whole_tile(a, b, depth, c);
}

int tile_products(TileProduct (&out)[3]) {
  int n = 0;
  out[n++] = tile_product_portable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) out[n++] = tile_product_avx2;
  if (__builtin_cpu_supports("avx512f")) out[n++] = tile_product_avx512;
#endif
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
