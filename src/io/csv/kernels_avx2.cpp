// The loops over text for AVX2.
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "io/csv/kernels.hpp"
#include "io/csv/shuffle.hpp"

#define STOPE_AVX2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::io::csv::avx2 {
#include "io/csv/kernels.inl"
}  // namespace stope::io::csv::avx2
STOPE_TARGET_REGION_END
