// column_network.inl compiled for avx512.
#include "discretize/column_network.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

// Headers come before the pragma: their inline functions must stay portable.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt,lzcnt"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt,lzcnt")
#endif

#define STOPE_AVX512
#define STOPE_LANES 8
namespace stope::discretize::avx512 {
namespace {
#include "discretize/column_network.inl"
}  // namespace
}  // namespace stope::discretize::avx512

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace stope::discretize {
const NetworkKernels kAvx512NetworkKernels = {
    "avx512",        STOPE_LANES, avx512::sort_columns<double>, avx512::sort_columns<float>, avx512::two_classes,
    avx512::permuted};
}  // namespace stope::discretize
#endif
