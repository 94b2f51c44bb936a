// The scan for AVX-512 VNNI.
#include "knn/filter/scan/scan.hpp"

#define STOPE_AVX512_VNNI
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::knn::avx512vnni {
#include "knn/filter/scan/kernels.inl"
}  // namespace stope::knn::avx512vnni
STOPE_TARGET_REGION_END
