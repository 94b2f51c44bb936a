// The scan for AVX2.
#include "knn/filter/scan/scan.hpp"

#define STOPE_AVX2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::knn::avx2 {
#include "knn/filter/scan/kernels.inl"
}  // namespace stope::knn::avx2
STOPE_TARGET_REGION_END
