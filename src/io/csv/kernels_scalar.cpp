// The loops over text for the instructions that every CPU has.
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "io/csv/kernels.hpp"
#include "io/csv/shuffle.hpp"

#include "base/simd/target_region.hpp"

STOPE_TARGET_REGION
namespace stope::io::csv::scalar {
#include "io/csv/kernels.inl"
}  // namespace stope::io::csv::scalar
STOPE_TARGET_REGION_END
