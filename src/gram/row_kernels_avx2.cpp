// The loops over rows for AVX2.
#include "gram/row_kernels.hpp"

#define STOPE_AVX2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::avx2 {
#include "gram/row_kernels.inl"
}  // namespace stope::gram::avx2
STOPE_TARGET_REGION_END
