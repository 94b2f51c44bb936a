// Distances across pairs for AVX2.
#include "knn/engine/pairs/pairs.hpp"

#define STOPE_AVX2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::knn::avx2 {
#include "knn/engine/pairs/kernels.inl"
}  // namespace stope::knn::avx2
STOPE_TARGET_REGION_END
