// kernels.inl compiled for avx512.
#include "knn/filter/scan/scan.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

// Headers come before the pragma: their inline functions must stay portable.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,bmi,bmi2,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,bmi,bmi2,popcnt")
#endif

#define STOPE_LANES 16
#define STOPE_AVX512
namespace stope::knn::avx512 {
#include "knn/filter/scan/kernels.inl"
}  // namespace stope::knn::avx512

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
