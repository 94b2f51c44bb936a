// Functions for memory and streams that belong to the caller (device/array_abi.hpp).
#include <cuda_runtime_api.h>

#include <string>

#include "device/array_abi.hpp"
#include "device/cuda/stream.hpp"

namespace stope::cuda {
namespace {

using cuda_abi::Failure;

int owner(const void* memory, std::int32_t* gpu, Failure* failure) {
  return guarded(failure, [&] {
    cudaPointerAttributes attributes{};
    const cudaError_t error = cudaPointerGetAttributes(&attributes, memory);
    // Memory that CUDA does not know is not an error: older runtimes report host memory this way.
    if (error == cudaErrorInvalidValue) {
      cudaGetLastError();
    } else {
      check(error, "asking whose memory it is");
    }
    const bool theirs =
        error == cudaSuccess && (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged);
    *gpu = theirs ? attributes.device : -1;
  });
}

int check_stream(std::int32_t gpu, void* stream, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    Event event;
    const cudaError_t error = cudaEventRecord(event.get(), static_cast<cudaStream_t>(stream));
    if (error == cudaErrorInvalidResourceHandle || error == cudaErrorInvalidValue) {
      cudaGetLastError();
      throw Error(ErrorCode::invalid_argument, "the stream is not one of GPU " + std::to_string(gpu));
    }
    check(error, "marking a stream");
  });
}

int download(std::int32_t gpu, void* stream, const cuda_abi::Rows* rows, void* to, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    auto* const queue = static_cast<cudaStream_t>(stream);
    const auto bytes = static_cast<std::size_t>(rows->bytes);
    check(cudaMemcpy2DAsync(to, bytes, rows->first, static_cast<std::size_t>(rows->stride), bytes,
                            static_cast<std::size_t>(rows->n), cudaMemcpyDeviceToHost, queue),
          "copying from the GPU");
    check(cudaStreamSynchronize(queue), "waiting for the GPU");
  });
}

int upload(std::int32_t gpu, void* stream, const void* from, std::int64_t bytes, void* to, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    auto* const queue = static_cast<cudaStream_t>(stream);
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, queue),
          "copying to the GPU");
    check(cudaStreamSynchronize(queue), "waiting for the GPU");
  });
}

}  // namespace

extern const cuda_abi::ArrayFunctions kArrayFunctions;
const cuda_abi::ArrayFunctions kArrayFunctions = {
    .owner = &owner,
    .check_stream = &check_stream,
    .download = &download,
    .upload = &upload,
};

}  // namespace stope::cuda
