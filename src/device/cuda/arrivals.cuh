// Barriers in shared memory that count arrivals (sm_80): threads say that something is there, others wait for it, and
// nobody else is held up.
#pragma once

#include <cstdint>

namespace stope::cuda {

#if __CUDA_ARCH__ >= 800

/// One thread, before any other looks at it.
__device__ __forceinline__ void barrier_init(std::uint64_t* barrier, int count) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(count));
}

/// What the thread has written before is seen by who has waited.
__device__ __forceinline__ void barrier_arrive(std::uint64_t* barrier) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(address) : "memory");
}

/// Until the phase of that parity is over: all of its arrivals have been.
__device__ __forceinline__ void barrier_wait(std::uint64_t* barrier, int parity) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(barrier));
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
#if __CUDA_ARCH__ >= 900
        "mbarrier.try_wait.parity.shared.b64 done, [%1], %2;\n"
#else
        "mbarrier.test_wait.parity.shared.b64 done, [%1], %2;\n"
#endif
        "selp.u32 %0, 1, 0, done;\n"
        "}"
        : "=r"(done)
        : "r"(address), "r"(parity)
        : "memory");
  }
}

#endif

}  // namespace stope::cuda
