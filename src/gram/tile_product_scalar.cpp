// The product of two tiles for the instructions that every CPU has.
#include "gram/tile_product.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::scalar {
#include "gram/tile_product.inl"
}  // namespace stope::gram::scalar
STOPE_TARGET_REGION_END
