// Errors inside the plug-in: what a failed CUDA call means, and how an exception ends at the plug-in's border.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>

#include "device/cuda_abi.hpp"
#include "stope/error.hpp"

namespace stope::cuda {

/// Sets the core's fault hooks when the plug-in is loaded.
void set_host(const cuda_abi::Host* host) noexcept;
bool alloc_fails() noexcept;

/// Throws what `error` means: device_lost if this process can no longer use the GPU, device_unavailable if it never
/// could, out_of_memory, else internal. `doing` names the step. Every CUDA call of the plug-in goes through this
/// function.
void check(cudaError_t error, const char* doing);

/// Checks the launch just made.
void check_launch(const char* kernel);

void fill(cuda_abi::Failure* failure, ErrorCode code, const char* text) noexcept;

/// Runs `work`. Returns 0, or 1 with `failure` filled in if `work` throws.
template <class Work>
int guarded(cuda_abi::Failure* failure, const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (const Error& error) {
    fill(failure, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    fill(failure, ErrorCode::out_of_memory, "out of memory in the CUDA plug-in");
  } catch (const std::exception& error) {
    fill(failure, ErrorCode::internal, error.what());
  }
  return 1;
}

}  // namespace stope::cuda
