// tile_product.inl compiled for avx2.
#include "gram/tile_product.hpp"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#define STOPE_LANES 4
#define STOPE_ROWS 4
namespace stope::gram {
namespace {
#include "gram/tile_product.inl"
}  // namespace

void tile_product_avx2(const double* a, const double* b, std::int64_t depth, double* c) {
  whole_tile(a, b, depth, c);
}

}  // namespace stope::gram

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
