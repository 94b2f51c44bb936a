// The pass over a leaf for AVX2.
#include "stats/leaf_kernels.hpp"

#define STOPE_AVX2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::stats::avx2 {
#include "stats/leaf_kernels.inl"
}  // namespace stope::stats::avx2
STOPE_TARGET_REGION_END
