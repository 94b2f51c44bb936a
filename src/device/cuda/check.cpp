#include "device/cuda/check.hpp"

#include <string>

namespace stope::cuda {
namespace {

const cuda_abi::Host* the_host = nullptr;

// After one of these errors CUDA returns it from every later call of the process.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorAssert:
    case cudaErrorContextIsDestroyed:
    case cudaErrorCudartUnloading: return true;
    default: return false;
  }
}

ErrorCode code_of(cudaError_t error) {
  if (is_sticky(error)) return ErrorCode::device_lost;
  switch (error) {
    case cudaErrorMemoryAllocation: return ErrorCode::out_of_memory;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceNotLicensed:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInitializationError:
    case cudaErrorNoKernelImageForDevice: return ErrorCode::device_unavailable;
    default: return ErrorCode::internal;
  }
}

}  // namespace

void set_host(const cuda_abi::Host* host) noexcept {
  the_host = host;
}

bool alloc_fails() noexcept {
  return the_host != nullptr && the_host->alloc_fails();
}

void check(cudaError_t error, const char* doing) {
  if (the_host != nullptr && the_host->device_fails()) error = cudaErrorLaunchFailure;
  if (error == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not be reported again by the next launch
  const ErrorCode code = code_of(error);
  std::string text = code == ErrorCode::device_lost ? "the GPU was lost while " : "the GPU failed while ";
  text += std::string(doing) + ": " + cudaGetErrorString(error);
  if (code == ErrorCode::device_lost) text += " (this process cannot use it any more; device cpu still works)";
  throw Error(code, text);
}

void check_launch(const char* kernel) {
  check(cudaGetLastError(), kernel);
}

void fill(cuda_abi::Failure* failure, ErrorCode code, const char* text) noexcept {
  failure->code = static_cast<std::int32_t>(code);
  std::snprintf(failure->text, sizeof failure->text, "%s", text);
}

}  // namespace stope::cuda
