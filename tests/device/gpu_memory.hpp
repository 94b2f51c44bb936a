// Memory and streams of a GPU, for tests of interfaces that take the caller's. They come from the driver's own library,
// loaded at run time, as in a program that uses CUDA apart from stope. No CUDA header, no CUDA compiler.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace stope::gpu_memory {

/// The driver's functions, by their names and types in cuda.h.
class Driver {
 public:
  /// Makes the primary context of a GPU current for the calling thread from then on.
  explicit Driver(int gpu) {
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw std::runtime_error("no libcuda.so.1");
    void* context = nullptr;
    int device = 0;
    call<unsigned>("cuInit", 0);
    call<int*, int>("cuDeviceGet", &device, gpu);
    call<void**, int>("cuDevicePrimaryCtxRetain", &context, device);
    call<void*>("cuCtxSetCurrent", context);
  }

  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    if (const int code = function(arguments...); code != 0) {
      throw std::runtime_error(std::string(name) + " returned " + std::to_string(code));
    }
  }

 private:
  void* library_ = nullptr;  // stays loaded
};

/// An array in the current GPU's memory, initialised from the host.
class Array {
 public:
  template <class T>
  Array(const Driver& driver, const std::vector<T>& values) : driver_(&driver), bytes_(values.size() * sizeof(T)) {
    driver.call<std::uint64_t*, std::size_t>("cuMemAlloc_v2", &address_, bytes_ > 0 ? bytes_ : 1);
    if (bytes_ == 0) return;
    driver.call<std::uint64_t, const void*, std::size_t>("cuMemcpyHtoD_v2", address_, values.data(), bytes_);
    driver.call<void*>("cuStreamSynchronize", nullptr);  // the call may return before the copy's last bytes are there
  }
  ~Array() { driver_->call<std::uint64_t>("cuMemFree_v2", address_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(address_);
  }
  template <class T>
  std::vector<T> values() const {
    std::vector<T> copy(bytes_ / sizeof(T));
    if (bytes_ > 0) driver_->call<void*, std::uint64_t, std::size_t>("cuMemcpyDtoH_v2", copy.data(), address_, bytes_);
    return copy;
  }

 private:
  const Driver* driver_;
  std::uint64_t address_ = 0;
  std::size_t bytes_;
};

/// A queue of work that does not wait for the default stream.
class Stream {
 public:
  explicit Stream(const Driver& driver) : driver_(&driver) {
    driver.call<void**, unsigned>("cuStreamCreate", &stream_, 1);
  }
  ~Stream() { driver_->call<void*>("cuStreamDestroy_v2", stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void* get() const { return stream_; }
  /// Queues `work`, which one of the driver's threads runs; it may not use CUDA.
  void run(void (*work)(void*), void* argument) const {
    driver_->call<void*, void (*)(void*), void*>("cuLaunchHostFunc", stream_, work, argument);
  }
  /// Queues a copy on the GPU.
  void copy(const Array& to, const Array& from, std::size_t bytes) const {
    driver_->call<std::uint64_t, std::uint64_t, std::size_t, void*>(
        "cuMemcpyDtoDAsync_v2", reinterpret_cast<std::uint64_t>(to.as<char>()),
        reinterpret_cast<std::uint64_t>(from.as<char>()), bytes, stream_);
  }

 private:
  const Driver* driver_;
  void* stream_ = nullptr;
};

}  // namespace stope::gpu_memory
