// The pass over a leaf for AVX-512.
#include "stats/leaf_kernels.hpp"

#define STOPE_AVX512
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::stats::avx512 {
#include "stats/leaf_kernels.inl"
}  // namespace stope::stats::avx512
STOPE_TARGET_REGION_END
