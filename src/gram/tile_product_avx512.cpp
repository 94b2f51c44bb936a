// tile_product.inl compiled for avx512.
#include "gram/tile_product.hpp"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
#endif

#define STOPE_LANES 8
#define STOPE_ROWS 8
namespace stope::gram {
namespace {
#include "gram/tile_product.inl"
}  // namespace

void tile_product_avx512(const double* a, const double* b, std::int64_t depth, double* c) {
  whole_tile(a, b, depth, c);
}

}  // namespace stope::gram

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
