// leaf_kernels.inl compiled for avx512.
#include "stats/leaf_kernels.hpp"

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

#define STOPE_LANES 8
#define STOPE_AVX512
namespace stope::stats::avx512 {
namespace {
#include "stats/leaf_kernels.inl"
#include "stats/row_kernels.inl"
}  // namespace
}  // namespace stope::stats::avx512

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace stope::stats {
const LeafKernels kAvx512LeafKernels = {"avx512",
                                        avx512::leaf<float>,
                                        avx512::leaf<double>,
                                        avx512::leaf<std::int32_t>,
                                        avx512::leaf<std::int64_t>,
                                        avx512::rows<float>,
                                        avx512::rows<double>,
                                        avx512::rows<std::int32_t>,
                                        avx512::rows<std::int64_t>,
                                        avx512::kRowColumns,
                                        avx512::kRowScratch};
}  // namespace stope::stats
#endif
