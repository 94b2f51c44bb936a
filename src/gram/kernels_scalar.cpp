// The sums for the instructions that every CPU has.
#include "gram/kernels.hpp"
#include "gram/shape.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::gram::scalar {
#include "gram/kernels.inl"
}  // namespace stope::gram::scalar
STOPE_TARGET_REGION_END
