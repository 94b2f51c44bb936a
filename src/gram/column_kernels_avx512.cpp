// The loops over columns for AVX-512.
#include "gram/column_kernels.hpp"

#define STOPE_AVX512
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::avx512 {
#include "gram/column_kernels.inl"
}  // namespace stope::gram::avx512
STOPE_TARGET_REGION_END
