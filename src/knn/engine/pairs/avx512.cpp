// Distances across pairs for AVX-512.
#include "knn/engine/pairs/pairs.hpp"

#define STOPE_AVX512
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::knn::avx512 {
#include "knn/engine/pairs/kernels.inl"
}  // namespace stope::knn::avx512
STOPE_TARGET_REGION_END
