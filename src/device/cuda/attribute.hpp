// Properties of a GPU: multiprocessors, shared memory, compute capability.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/check.hpp"

namespace stope::cuda {

inline int attribute_of(int gpu, cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, gpu), "asking for the GPU's properties");
  return value;
}

/// An attribute of the current GPU.
inline int attribute(cudaDeviceAttr attribute) {
  int gpu = 0;
  check(cudaGetDevice(&gpu), "asking for the GPU");
  return attribute_of(gpu, attribute);
}

}  // namespace stope::cuda
