// The splits of rows for AVX-512.
#include "knn/filter/split/split.hpp"

#define STOPE_AVX512
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::knn::avx512 {
#include "knn/filter/split/kernels.inl"
}  // namespace stope::knn::avx512
STOPE_TARGET_REGION_END
