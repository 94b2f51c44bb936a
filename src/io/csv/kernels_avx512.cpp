// kernels.inl compiled for AVX-512.
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
#pragma clang attribute push( \
    __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,lzcnt,popcnt")
#endif

#define STOPE_CSV_LEVEL 3
namespace stope::io::csv::avx512 {
namespace {
#include "io/csv/kernels.inl"
}  // namespace
}  // namespace stope::io::csv::avx512

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace stope::io::csv {
const Kernels kAvx512Kernels = {"avx512", avx512::count_ends, avx512::index_fields, avx512::plain_numbers};
}  // namespace stope::io::csv
#endif
