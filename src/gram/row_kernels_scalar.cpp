// The loops over rows for the instructions that every CPU has.
#include "gram/row_kernels.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::scalar {
#include "gram/row_kernels.inl"
}  // namespace stope::gram::scalar
STOPE_TARGET_REGION_END
