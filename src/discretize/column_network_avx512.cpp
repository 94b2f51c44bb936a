// The network for AVX-512.
#include "discretize/column_network.hpp"

#define STOPE_AVX512
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::discretize::avx512 {
#include "discretize/column_network.inl"
}  // namespace stope::discretize::avx512
STOPE_TARGET_REGION_END
