// Kernels that follow each other. Where the launch says so (sm_90), the blocks of the next kernel start as soon as
// those of the one before have begun, and wait. This hides a launch, which takes a microsecond or two.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/check.hpp"

namespace stope::cuda {

/// Called in the first kernel: its blocks have begun, so that the next kernel may start.
__device__ __forceinline__ void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Called in the next kernel: waits until everything that the kernel before has written is there.
__device__ __forceinline__ void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Launches a kernel that itself waits for the one before. `major` is the GPU's major compute capability.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream,
                  int major, const char* what, Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = major >= 9 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), what);
}

}  // namespace stope::cuda
