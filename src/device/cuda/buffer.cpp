#include "device/cuda/buffer.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include "device/cuda/check.hpp"

namespace stope::cuda {
namespace {

[[noreturn]] void refuse(std::int64_t bytes, const char* where) {
  throw Error(ErrorCode::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes " + where);
}

}  // namespace

// An error of freeing helps nobody: a lost device reports itself at the next checked call.
void FreeDevice::operator()(void* memory) const noexcept {
  cudaFree(memory);
}
void FreePinned::operator()(void* memory) const noexcept {
  cudaFreeHost(memory);
}

std::unique_ptr<void, FreeDevice> allocate_device(std::int64_t bytes) {
  constexpr const char* kWhere = "on the GPU";
  if (alloc_fails()) refuse(bytes, kWhere);
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    refuse(bytes, kWhere);
  }
  std::unique_ptr<void, FreeDevice> owner(memory);
  check(error, "allocating memory");
  return owner;
}

std::unique_ptr<void, FreePinned> allocate_pinned(std::int64_t bytes) {
  constexpr const char* kWhere = "of pinned memory";
  if (alloc_fails()) refuse(bytes, kWhere);
  void* memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    refuse(bytes, kWhere);
  }
  std::unique_ptr<void, FreePinned> owner(memory);
  check(error, "allocating pinned memory");
  return owner;
}

}  // namespace stope::cuda
