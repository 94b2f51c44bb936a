// The loops over text for AVX-512 with VBMI2.
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "io/csv/kernels.hpp"
#include "io/csv/shuffle.hpp"

#define STOPE_AVX512_VBMI2
#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::io::csv::avx512 {
#include "io/csv/kernels.inl"
}  // namespace stope::io::csv::avx512
STOPE_TARGET_REGION_END
