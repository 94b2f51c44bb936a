// The loops over columns for AVX2.
#include "gram/column_kernels.hpp"

#define STOPE_AVX2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::avx2 {
#include "gram/column_kernels.inl"
}  // namespace stope::gram::avx2
STOPE_TARGET_REGION_END
