// Barriers in shared memory that count arrivals. A thread says that something is there, others wait for it, and no
// other thread is held up. Before sm_80 the barrier is a counter in software, good for fewer than 2^32 arrivals.
#pragma once

#include <cstdint>

namespace stope::cuda {

#if __CUDA_ARCH__ >= 800

/// One thread calls this before any other thread looks at the barrier.
__device__ __forceinline__ void barrier_init(std::uint64_t* barrier, int count) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(count));
}

/// A thread that has waited sees everything that this thread wrote before.
__device__ __forceinline__ void barrier_arrive(std::uint64_t* barrier) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(address) : "memory");
}

/// Waits until the phase of that parity is over, that is, until all its arrivals have been counted.
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

#else

// The low 32 bits hold the number of arrivals that make a phase, the high 32 bits the arrivals so far.
__device__ __forceinline__ void barrier_init(std::uint64_t* barrier, int count) {
  *barrier = static_cast<std::uint64_t>(count);
}
__device__ __forceinline__ void barrier_arrive(std::uint64_t* barrier) {
  __threadfence_block();
  atomicAdd(reinterpret_cast<unsigned long long*>(barrier), 1ULL << 32);
}
__device__ __forceinline__ void barrier_wait(std::uint64_t* barrier, int parity) {
  const volatile auto* const now = reinterpret_cast<const volatile unsigned long long*>(barrier);
  const auto phase = [&] {
    const unsigned long long both = *now;
    return static_cast<int>((both >> 32) / (both & 0xffffffffULL) % 2);
  };
  while (phase() == parity) {
  }
  __threadfence_block();
}

#endif

}  // namespace stope::cuda
