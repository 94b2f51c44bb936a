#include "device/cuda/buffer.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include "base/environment.hpp"
#include "device/cuda/check.hpp"
#include "device/kept_memory.hpp"

namespace stope::cuda {
namespace {

[[noreturn]] void refuse(std::int64_t bytes, const char* where) {
  throw Error(ErrorCode::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes " + where);
}

using device::KeptMemory;

// What a call of some 40 MB takes, and little beside what a GPU has.
constexpr std::int64_t kMostDevice = std::int64_t{256} << 20, kMostPinned = std::int64_t{64} << 20;
// Blocks are multiples of these: the driver's own steps, and pages.
constexpr std::int64_t kDeviceStep = std::int64_t{2} << 20, kSmallStep = 512, kPinnedStep = 4096;

// An error of freeing helps nobody: a lost device reports itself at the next checked call.
void release_device(void* memory) {
  cudaFree(memory);
}
void release_pinned(void* memory) {
  cudaFreeHost(memory);
}

// Both live until the process ends, since statics of the program may own memory. The driver frees what is left then.
KeptMemory& kept_device() {
  static KeptMemory& kept = *new KeptMemory(kMostDevice, &release_device);
  return kept;
}
KeptMemory& kept_pinned() {
  static KeptMemory& kept = *new KeptMemory(kMostPinned, &release_pinned);
  return kept;
}

// Whether everything that is queued on the GPU is done. Waits for it, as cudaFree does.
bool becomes_idle(int gpu) noexcept {
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(gpu) != cudaSuccess) return false;
  const bool idle = cudaDeviceSynchronize() == cudaSuccess;
  cudaSetDevice(before);
  return idle;
}

void give_back(KeptMemory& kept, void* memory) noexcept {
  const int gpu = kept.gpu_of(memory);
  if (gpu >= 0 && environment::text(environment::Variable::gpu_kept).empty() && becomes_idle(gpu)) {
    kept.give_back(memory);
  } else {
    kept.drop(memory);
  }
}

// Takes kept memory, or else asks the driver: allocate(&memory, bytes). Where it has none, spare memory is freed first.
template <class Allocate>
void* take_or_allocate(KeptMemory& kept, std::int64_t bytes, std::int64_t step, const char* where,
                       const Allocate& allocate) {
  if (alloc_fails()) refuse(bytes, where);
  const bool keeps = environment::word(environment::Variable::gpu_kept).empty();
  int gpu = 0;
  check(cudaGetDevice(&gpu), "asking for the current GPU");
  const std::int64_t rounded = keeps ? checked::mul(checked::ceil_div(bytes, step), step) : bytes;
  if (void* const memory = keeps ? kept.take(gpu, rounded) : nullptr; memory != nullptr) return memory;
  void* memory = nullptr;
  cudaError_t error = allocate(&memory, static_cast<std::size_t>(rounded));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    kept_device().drop_spare(gpu);
    kept_pinned().drop_spare(gpu);
    error = allocate(&memory, static_cast<std::size_t>(rounded));
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    refuse(bytes, where);
  }
  check(error, "allocating memory");
  if (!keeps) return memory;
  try {
    kept.add(memory, gpu, rounded);
  } catch (...) {
    kept.drop(memory);
    throw;
  }
  return memory;
}

}  // namespace

void FreeDevice::operator()(void* memory) const noexcept {
  give_back(kept_device(), memory);
}
void FreePinned::operator()(void* memory) const noexcept {
  give_back(kept_pinned(), memory);
}

std::unique_ptr<void, FreeDevice> allocate_device(std::int64_t bytes) {
  const std::int64_t step = bytes < kDeviceStep / 2 ? kSmallStep : kDeviceStep;
  return std::unique_ptr<void, FreeDevice>(
      take_or_allocate(kept_device(), bytes, step, "on the GPU",
                       [](void** memory, std::size_t size) { return cudaMalloc(memory, size); }));
}

std::unique_ptr<void, FreePinned> allocate_pinned(std::int64_t bytes) {
  return std::unique_ptr<void, FreePinned>(take_or_allocate(
      kept_pinned(), bytes, kPinnedStep, "of pinned memory",
      [](void** memory, std::size_t size) { return cudaHostAlloc(memory, size, cudaHostAllocDefault); }));
}

std::int64_t spare_device_bytes(int gpu) {
  return kept_device().spare_bytes(gpu);
}

}  // namespace stope::cuda
