// Compiles a source for an instruction set that not every CPU has. The source includes its other headers, then says
// which instruction set it is for and puts its kernels into a region:
//
//   #define STOPE_AVX2
//   #include "base/simd/target_region.hpp"
//   STOPE_TARGET_REGION
//   namespace stope::gram::avx2 {
//   #include "gram/kernels.inl"
//   }
//   STOPE_TARGET_REGION_END
//
// STOPE_CLMUL, STOPE_AVX2, STOPE_AVX512, STOPE_AVX512_VNNI and STOPE_AVX512_VBMI2 are the instruction sets; the last
// two define STOPE_AVX512, too. Without any of them a source is compiled for what every CPU has. On CPUs other than
// x86-64 all sources are: nobody chooses the others there.
//
// Headers stay outside of a region: their inline functions must stay portable. Everything inside has internal linkage
// but the one table or function that the rest of the library calls. So a function compiled for AVX-512 is never the one
// that the linker keeps for an older CPU.
#pragma once

#if defined(STOPE_AVX512_VNNI) || defined(STOPE_AVX512_VBMI2)
#define STOPE_AVX512
#endif
#if !defined(__x86_64__)
#undef STOPE_CLMUL
#undef STOPE_AVX2
#undef STOPE_AVX512
#undef STOPE_AVX512_VNNI
#undef STOPE_AVX512_VBMI2
#endif

// What the compiler may use. base/simd/cpu.hpp asks the CPU for the same features.
#define STOPE_CLMUL_FEATURES "sse4.1,pclmul"
#define STOPE_AVX2_FEATURES "avx2,fma,bmi,bmi2,lzcnt,popcnt"
#define STOPE_AVX512_FEATURES STOPE_AVX2_FEATURES ",avx512f,avx512bw,avx512vl,avx512dq"
#if defined(STOPE_AVX512_VNNI)
#define STOPE_FEATURES STOPE_AVX512_FEATURES ",avx512vnni"
#elif defined(STOPE_AVX512_VBMI2)
#define STOPE_FEATURES STOPE_AVX512_FEATURES ",avx512vbmi2"
#elif defined(STOPE_AVX512)
#define STOPE_FEATURES STOPE_AVX512_FEATURES
#elif defined(STOPE_AVX2)
#define STOPE_FEATURES STOPE_AVX2_FEATURES
#elif defined(STOPE_CLMUL)
#define STOPE_FEATURES STOPE_CLMUL_FEATURES
#endif

// The length of a register, and the name of the instruction set in reports.
#if defined(STOPE_AVX512)
#define STOPE_VECTOR_BYTES 64
#define STOPE_LEVEL_NAME "avx512"
#elif defined(STOPE_AVX2)
#define STOPE_VECTOR_BYTES 32
#define STOPE_LEVEL_NAME "avx2"
#else
#define STOPE_VECTOR_BYTES 16
#define STOPE_LEVEL_NAME "scalar"
#endif

#define STOPE_PRAGMA(...) _Pragma(#__VA_ARGS__)
#if !defined(STOPE_FEATURES)
#define STOPE_TARGET_REGION
#define STOPE_TARGET_REGION_END
#else
#include <immintrin.h>
#if defined(__clang__)
#define STOPE_PUSH_FEATURES(features) \
  STOPE_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define STOPE_TARGET_REGION_END STOPE_PRAGMA(clang attribute pop)
#else
#define STOPE_PUSH_FEATURES(features) STOPE_PRAGMA(GCC push_options) STOPE_PRAGMA(GCC target(features))
#define STOPE_TARGET_REGION_END STOPE_PRAGMA(GCC pop_options)
#endif
#define STOPE_TARGET_REGION STOPE_PUSH_FEATURES(STOPE_FEATURES)
#endif

#define STOPE_INLINE __attribute__((always_inline)) inline
