// Distances across pairs for the instructions that every CPU has.
#include "knn/engine/pairs/pairs.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::knn::scalar {
#include "knn/engine/pairs/kernels.inl"
}  // namespace stope::knn::scalar
STOPE_TARGET_REGION_END
