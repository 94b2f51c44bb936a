// Which instruction sets this CPU runs, among those that kernels are compiled for (base/simd/target_region.hpp).
#pragma once

namespace stope::simd {

#if defined(__x86_64__)
inline bool has_clmul() {
  return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("pclmul");
}
inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("popcnt");
}
inline bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
inline bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
inline bool has_avx512_vbmi2() {
  return has_avx512() && __builtin_cpu_supports("avx512vbmi2");
}
#else
inline bool has_clmul() {
  return false;
}
inline bool has_avx2() {
  return false;
}
inline bool has_avx512() {
  return false;
}
inline bool has_avx512_vnni() {
  return false;
}
inline bool has_avx512_vbmi2() {
  return false;
}
#endif

}  // namespace stope::simd
