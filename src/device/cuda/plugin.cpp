// The plug-in's one exported symbol, and what it says about the machine.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "device/array_abi.hpp"
#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "device/cuda_abi.hpp"

// Tables of functions, each defined by its job: device/ may not include the jobs.
namespace stope::knn::cuda {
extern const cuda_abi::Functions kFunctions;
}

namespace stope::gram::cuda {
extern const cuda_abi::Functions kFunctions;
}

namespace stope::stats::cuda {
extern const cuda_abi::Functions kFunctions;
}

namespace stope::discretize::cuda {
extern const cuda_abi::Functions kFunctions;
}

namespace stope::tree::cuda {
extern const cuda_abi::Functions kFunctions;
}

namespace stope::cuda {
extern const cuda_abi::ArrayFunctions kArrayFunctions;  // arrays.cpp
namespace {

cuda_abi::Problem problem_of(cudaError_t error, int driver_version) {
  if (error == cudaSuccess) return cuda_abi::Problem::none;
  if (error == cudaErrorNoDevice) return cuda_abi::Problem::no_gpu;
  if (error == cudaErrorInsufficientDriver || error == cudaErrorStubLibrary) {
    return driver_version == 0 ? cuda_abi::Problem::no_driver : cuda_abi::Problem::old_driver;
  }
  return cuda_abi::Problem::other;
}

// Writes a UUID as nvidia-smi prints it: groups of 4, 2, 2, 2 and 6 bytes. Only its name tells that a device is a part
// of a GPU ("NVIDIA A100 MIG 1g.5gb"); its UUID is then that of the part.
void write_uuid(const cudaDeviceProp& properties, char (&text)[48]) {
  int at = std::snprintf(text, sizeof text, "%s", std::strstr(properties.name, " MIG ") != nullptr ? "MIG-" : "GPU-");
  for (int i = 0; i < 16; ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    const unsigned byte = static_cast<unsigned char>(properties.uuid.bytes[i]);
    at += std::snprintf(text + at, sizeof text - static_cast<std::size_t>(at), dash ? "-%02x" : "%02x", byte);
  }
}

void look(cuda_abi::Machine* machine) {
  cudaRuntimeGetVersion(&machine->runtime_version);
  cudaDriverGetVersion(&machine->driver_version);
  int n = 0;
  cudaError_t error = cudaGetDeviceCount(&n);
  machine->n_gpus = std::min(n, cuda_abi::kMostGpus);
  for (int i = 0; error == cudaSuccess && i < machine->n_gpus; ++i) {
    cudaDeviceProp properties{};
    error = cudaGetDeviceProperties(&properties, i);
    cuda_abi::Gpu& gpu = machine->gpus[i];
    std::snprintf(gpu.name, sizeof gpu.name, "%s", properties.name);
    write_uuid(properties, gpu.uuid);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&gpu.major, cudaDevAttrComputeCapabilityMajor, i);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&gpu.minor, cudaDevAttrComputeCapabilityMinor, i);
    gpu.multiprocessors = properties.multiProcessorCount;
    gpu.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  }
  machine->problem = problem_of(error, machine->driver_version);
  if (error == cudaSuccess && machine->n_gpus == 0) machine->problem = cuda_abi::Problem::no_gpu;
  std::snprintf(machine->problem_text, sizeof machine->problem_text, "%s", cudaGetErrorString(error));
  cudaGetLastError();
}

int free_memory(std::int32_t gpu, std::int64_t* bytes, cuda_abi::Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for free memory");
    *bytes = static_cast<std::int64_t>(free) + spare_device_bytes(gpu);
  });
}

int pin(std::int32_t gpu, std::int64_t bytes, void** memory, cuda_abi::Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);  // without it the memory would be on GPU 0, which may not be ours to use
    *memory = allocate_pinned(bytes).release();
  });
}

void unpin(void* memory) {
  const std::unique_ptr<void, FreePinned> owner(memory);
}

}  // namespace
}  // namespace stope::cuda

extern "C" __attribute__((visibility("default"))) const stope::cuda_abi::Functions* stope_cuda_plugin(
    const stope::cuda_abi::Host* host) {
  static constexpr stope::cuda_abi::Functions kFunctions = {.version = stope::cuda_abi::kVersion,
                                                            .bytes = sizeof(stope::cuda_abi::Functions),
                                                            .table_sizes = stope::cuda_abi::kTableSizes,
                                                            .archs = STOPE_CUDA_ARCH_NAMES,
                                                            .look = &stope::cuda::look,
                                                            .free_memory = &stope::cuda::free_memory,
                                                            .pin = &stope::cuda::pin,
                                                            .unpin = &stope::cuda::unpin,
                                                            .knn = &stope::knn::cuda::kFunctions,
                                                            .arrays = &stope::cuda::kArrayFunctions,
                                                            .gram = &stope::gram::cuda::kFunctions,
                                                            .stats = &stope::stats::cuda::kFunctions,
                                                            .discretize = &stope::discretize::cuda::kFunctions,
                                                            .tree = &stope::tree::cuda::kFunctions};
  stope::cuda::set_host(host);
  return &kFunctions;
}
