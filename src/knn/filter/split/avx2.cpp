// The splits of rows for AVX2.
#include "knn/filter/split/split.hpp"

#define STOPE_AVX2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::knn::avx2 {
#include "knn/filter/split/kernels.inl"
}  // namespace stope::knn::avx2
STOPE_TARGET_REGION_END
