// The CUDA plug-in under watch. The plug-in's own objects are linked to a second copy in which the calls below come
// here first (ld's --wrap). It writes down which of its kernels a process launched, so that scripts/gpu_check.sh can
// ask whether a run of tests missed one. It can also say that the GPU has less shared memory or is older, so that
// kernels for other GPUs run on this one, and launch a kernel that fails.
//   STOPE_CUDA_KERNELS=FILE         at the end adds a line per kernel: "launched NAME" or "missed NAME"
//   STOPE_CUDA_SHARED_MEMORY=BYTES  the most shared memory of a block
//   STOPE_CUDA_FAILING_KERNEL=trap:N, address:N  right before the N-th launch a kernel traps, or writes where no memory
//   is
#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "failing_kernels.hpp"

// The compute capability that the GPU pretends to have, as in sm_80; 0: its own (tests/CMakeLists.txt).
#ifndef STOPE_PRETENDED_SM
#define STOPE_PRETENDED_SM 0
#endif

namespace {

struct Kernel {
  std::string name;
  bool launched = false;
};

struct Watch {
  std::mutex mutex;
  long n_launches = 0;
  std::map<const void*, Kernel> kernels;  // keyed by the host's function of that name
  std::map<cudaKernel_t, const void*> functions;
};

// The first user makes it, since kernels are registered before main(). It is never destroyed.
Watch& watch() {
  static Watch* const the_watch = new Watch;
  return *the_watch;
}

// Whether the environment asks for a failure right before the launch of that number.
bool fails_before(long launch) {
  const char* const text = std::getenv("STOPE_CUDA_FAILING_KERNEL");
  const char* const number = text == nullptr ? nullptr : std::strchr(text, ':');
  return number != nullptr && std::atol(number + 1) == launch;
}

// The failing kernel comes through here, too: it has the next number.
void launched(const void* function, cudaStream_t stream) {
  bool fails = false;
  {
    const std::lock_guard<std::mutex> lock(watch().mutex);
    const auto kernel = watch().kernels.find(function);
    if (kernel != watch().kernels.end()) kernel->second.launched = true;
    fails = fails_before(++watch().n_launches);
  }
  if (!fails) return;
  const bool by_address = std::strncmp(std::getenv("STOPE_CUDA_FAILING_KERNEL"), "address", 7) == 0;
  stope::failing::launch(by_address ? stope::failing::Kind::address : stope::failing::Kind::trap, stream);
}

std::string readable(const std::string& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  return result;
}

// One call writes all, so that the lines of parallel processes do not mix.
__attribute__((destructor)) void write_down() {
  const char* const path = std::getenv("STOPE_CUDA_KERNELS");
  if (path == nullptr || *path == '\0') return;
  std::string text;
  for (const auto& [function, kernel] : watch().kernels) {
    text += (kernel.launched ? "launched " : "missed ") + readable(kernel.name) + "\n";
  }
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) close(file);
  if (!written) _exit(3);
}

// The GPU's attribute, or that of the GPU that it pretends to be.
int pretended(cudaDeviceAttr attribute, int value) {
  constexpr int kMajor = STOPE_PRETENDED_SM / 10, kMinor = STOPE_PRETENDED_SM % 10;
  // CUDA C++ Programming Guide, technical specifications: 64 KB a block on Turing, 163 KB on an A100.
  constexpr int kSharedBytes = (kMajor < 8 ? 64 : 163) * 1024;
  if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) {
    const char* const most = std::getenv("STOPE_CUDA_SHARED_MEMORY");
    if (kMajor != 0) value = std::min(value, kSharedBytes);
    return most == nullptr ? value : std::min(value, std::atoi(most));
  }
  if (kMajor != 0 && attribute == cudaDevAttrComputeCapabilityMajor) return kMajor;
  if (kMajor != 0 && attribute == cudaDevAttrComputeCapabilityMinor) return kMinor;
  return value;
}

}  // namespace

// These are the names that ld gives to a wrapped function and to what it wraps.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {

void __real___cudaRegisterFunction(void** binary, const char* host_function, char* device_function, const char* name,
                                   int thread_limit, void* tid, void* bid, void* block, void* grid, int* w_size);
void __wrap___cudaRegisterFunction(void** binary, const char* host_function, char* device_function, const char* name,
                                   int thread_limit, void* tid, void* bid, void* block, void* grid, int* w_size) {
  if (std::strstr(name, "stope7failing") == nullptr) {
    const std::lock_guard<std::mutex> lock(watch().mutex);
    watch().kernels[host_function].name = name;
  }
  __real___cudaRegisterFunction(binary, host_function, device_function, name, thread_limit, tid, bid, block, grid,
                                w_size);
}

cudaError_t __real___cudaGetKernel(cudaKernel_t* kernel, const void* function);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  const cudaError_t error = __real___cudaGetKernel(kernel, function);
  const std::lock_guard<std::mutex> lock(watch().mutex);
  if (error == cudaSuccess) watch().functions[*kernel] = function;
  return error;
}

// <<< >>> becomes this call,
cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream) {
  const void* function = nullptr;
  {
    const std::lock_guard<std::mutex> lock(watch().mutex);
    function = watch().functions[kernel];
  }
  launched(function, stream);
  return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

// and became this one before CUDA 12.
cudaError_t __real_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream);
cudaError_t __wrap_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream) {
  launched(function, stream);
  return __real_cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* function, void** arguments);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* function, void** arguments) {
  launched(function, how->stream);
  return __real_cudaLaunchKernelExC(how, function, arguments);
}

cudaError_t __real_cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                               std::size_t shared, cudaStream_t stream);
cudaError_t __wrap_cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                               std::size_t shared, cudaStream_t stream) {
  launched(function, stream);
  return __real_cudaLaunchCooperativeKernel(function, grid, block, arguments, shared, stream);
}

cudaError_t __real_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int gpu);
cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int gpu) {
  const cudaError_t error = __real_cudaDeviceGetAttribute(value, attribute, gpu);
  if (error == cudaSuccess) *value = pretended(attribute, *value);
  return error;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
