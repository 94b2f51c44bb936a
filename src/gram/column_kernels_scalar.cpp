// The loops over columns for the instructions that every CPU has.
#include "gram/column_kernels.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::scalar {
#include "gram/column_kernels.inl"
}  // namespace stope::gram::scalar
STOPE_TARGET_REGION_END
