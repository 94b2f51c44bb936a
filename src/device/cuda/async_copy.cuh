// Asynchronous copies that a thread makes from global to shared memory (sm_80). On older GPUs a copy is complete when
// its instruction is.
#pragma once

#include <cstdint>

namespace stope::cuda {

/// Copies 4, 8 or 16 bytes; both addresses are aligned to that size. Copies of 16 bytes bypass the L1 cache.
template <int kBytes>
__device__ __forceinline__ void copy(void* to, const void* from) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(kBytes) : "memory");
  }
#else
  if constexpr (kBytes == 16) {
    *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
  } else if constexpr (kBytes == 8) {
    *static_cast<uint2*>(to) = *static_cast<const uint2*>(from);
  } else {
    *static_cast<unsigned*>(to) = *static_cast<const unsigned*>(from);
  }
#endif
}

/// Makes the thread's copies since the last call one group.
__device__ __forceinline__ void end_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits until all of the thread's groups but the last kPending are complete.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace stope::cuda
