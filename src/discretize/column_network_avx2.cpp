// The network for AVX2.
#include "discretize/column_network.hpp"

#define STOPE_AVX2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::discretize::avx2 {
#include "discretize/column_network.inl"
}  // namespace stope::discretize::avx2
STOPE_TARGET_REGION_END
