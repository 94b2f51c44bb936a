// The core's handle of a job's session on a GPU: a pointer to a struct that only the plug-in makes, uses and destroys.
// The functions of a job's border call these functions, which make the session's GPU current and let no exception out.
#pragma once

#include <cstdint>
#include <memory>

#include "device/cuda/check.hpp"
#include "device/cuda/stream.hpp"

namespace stope::cuda {

/// A border that declares `struct Session;` defines it as `struct Session : Handle<S> { using Handle::Handle; };`.
template <class S>
struct Handle {
  template <class... Args>
  explicit Handle(int gpu, const Args&... args) : session(gpu, args...) {}
  S session;
};

/// Makes *handle on a GPU.
template <class H, class... Args>
int make_handle(H** handle, cuda_abi::Failure* failure, std::int32_t gpu, const Args&... args) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    *handle = std::make_unique<H>(gpu, args...).release();
  });
}

template <class H>
void destroy_handle(H* handle) {
  const std::unique_ptr<H> owner(handle);
}

/// Runs work(session).
template <class H, class Work>
int in_session(H* handle, cuda_abi::Failure* failure, const Work& work) {
  return guarded(failure, [&] {
    const CurrentGpu current(handle->session.gpu());
    work(handle->session);
  });
}

}  // namespace stope::cuda
