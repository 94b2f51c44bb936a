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

/// The core's fault hooks, set when the plug-in is loaded.
void set_host(const cuda_abi::Host* host) noexcept;
bool alloc_fails() noexcept;

/// Throws what `error` means: device_lost for an error after which this process cannot use the GPU any more,
/// device_unavailable for one that says it never could, out_of_memory, else internal. `doing` names the step.
/// Every CUDA call of the plug-in goes through here.
void check(cudaError_t error, const char* doing);

/// check() of the launch just made.
void check_launch(const char* kernel);

void fill(cuda_abi::Failure* failure, ErrorCode code, const char* text) noexcept;

/// Runs `work`; 0, or 1 with `failure` filled in if it throws.
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
