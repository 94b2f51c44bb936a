// The splits of rows for the instructions that every CPU has.
#include "knn/filter/split/split.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::knn::scalar {
#include "knn/filter/split/kernels.inl"
}  // namespace stope::knn::scalar
STOPE_TARGET_REGION_END
