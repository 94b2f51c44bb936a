// The loops over rows for AVX-512.
#include "gram/row_kernels.hpp"

#define STOPE_AVX512
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::avx512 {
#include "gram/row_kernels.inl"
}  // namespace stope::gram::avx512
STOPE_TARGET_REGION_END
