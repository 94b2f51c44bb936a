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

/// The compute capability of a GPU.
struct Capability {
  int major, minor;
};
inline Capability capability_of(int gpu) {
  return {attribute_of(gpu, cudaDevAttrComputeCapabilityMajor), attribute_of(gpu, cudaDevAttrComputeCapabilityMinor)};
}

/// An attribute of the current GPU.
inline int attribute(cudaDeviceAttr attribute) {
  int gpu = 0;
  check(cudaGetDevice(&gpu), "asking for the GPU");
  return attribute_of(gpu, attribute);
}

}  // namespace stope::cuda
