// The pass over a leaf for the instructions that every CPU has.
#include "stats/leaf_kernels.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::stats::scalar {
#include "stats/leaf_kernels.inl"
}  // namespace stope::stats::scalar
STOPE_TARGET_REGION_END
