// Copies between host and GPU, and clearing, queued in a stream.
#pragma once

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"

namespace stope::knn::cuda {

template <class T>
void copy_out(T* to, const stope::cuda::DeviceBuffer<T>& from, std::int64_t n, const stope::cuda::Stream& stream) {
  stope::cuda::check(
      cudaMemcpyAsync(to, from.data(), static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
      "copying from the GPU");
}

template <class T>
void copy_in(T* to, const T* from, std::int64_t n, const stope::cuda::Stream& stream) {
  stope::cuda::check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyHostToDevice, stream.get()),
      "copying to the GPU");
}

template <class T>
void clear(const stope::cuda::DeviceBuffer<T>& buffer, const stope::cuda::Stream& stream) {
  stope::cuda::check(cudaMemsetAsync(buffer.data(), 0, static_cast<std::size_t>(buffer.bytes()), stream.get()),
                     "clearing memory");
}

}  // namespace stope::knn::cuda
