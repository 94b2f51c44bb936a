// kernels.inl compiled for AVX2.
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "io/csv/kernels_levels.hpp"
#include "io/csv/shuffle.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

// Headers come before the pragma: their inline functions must stay portable.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif

#define STOPE_CSV_LEVEL 2
namespace stope::io::csv::avx2 {
namespace {
#include "io/csv/kernels.inl"
}  // namespace
}  // namespace stope::io::csv::avx2

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace stope::io::csv {
const Kernels kAvx2Kernels = {"avx2", avx2::count_ends, avx2::index_fields, avx2::plain_numbers};
}  // namespace stope::io::csv
#endif
