// leaf_kernels.inl compiled for avx2.
#include "stats/leaf_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

// Headers come before the pragma: their inline functions must stay portable.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,lzcnt")
#endif

#define STOPE_LANES 4
#define STOPE_AVX2
namespace stope::stats::avx2 {
namespace {
#include "stats/leaf_kernels.inl"
#include "stats/row_kernels.inl"
}  // namespace
}  // namespace stope::stats::avx2

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace stope::stats {
const LeafKernels kAvx2LeafKernels = {"avx2",
                                      avx2::leaf<float>,
                                      avx2::leaf<double>,
                                      avx2::leaf<std::int32_t>,
                                      avx2::leaf<std::int64_t>,
                                      avx2::rows<float>,
                                      avx2::rows<double>,
                                      avx2::rows<std::int32_t>,
                                      avx2::rows<std::int64_t>,
                                      avx2::kRowColumns,
                                      avx2::kRowScratch};
}  // namespace stope::stats
#endif
