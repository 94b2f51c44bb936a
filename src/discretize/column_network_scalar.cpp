// The network for the instructions that every CPU has.
#include "discretize/column_network.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::discretize::scalar {
#include "discretize/column_network.inl"
}  // namespace stope::discretize::scalar
STOPE_TARGET_REGION_END
