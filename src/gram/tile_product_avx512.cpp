// The product of two tiles for AVX-512.
#include "gram/tile_product.hpp"

#define STOPE_AVX512
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::avx512 {
#include "gram/tile_product.inl"
}  // namespace stope::gram::avx512
STOPE_TARGET_REGION_END
