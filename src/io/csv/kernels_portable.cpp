// kernels.inl compiled without vector instructions.
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "io/csv/kernels_levels.hpp"
#include "io/csv/shuffle.hpp"

#define STOPE_CSV_LEVEL 0
namespace stope::io::csv::portable {
namespace {
#include "io/csv/kernels.inl"
}  // namespace
}  // namespace stope::io::csv::portable

namespace stope::io::csv {
const Kernels kPortableKernels = {"portable", portable::count_ends, portable::index_fields, portable::plain_numbers};
}  // namespace stope::io::csv
