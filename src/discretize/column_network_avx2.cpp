// column_network.inl compiled for avx2.
#include "discretize/column_network.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

// Headers come before the pragma: their inline functions must stay portable.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,lzcnt")
#endif

#define STOPE_AVX2
#define STOPE_LANES 4
namespace stope::discretize::avx2 {
namespace {
#include "discretize/column_network.inl"
}  // namespace
}  // namespace stope::discretize::avx2

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace stope::discretize {
const NetworkKernels kAvx2NetworkKernels = {
    "avx2", STOPE_LANES, avx2::sort_columns<double>, avx2::sort_columns<float>, avx2::two_classes, avx2::permuted};
}  // namespace stope::discretize
#endif
