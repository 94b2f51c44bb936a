// Computes pieces of values from the host's memory, two at a time: one is copied while the other is computed.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "device/cuda/upload.hpp"
#include "stats/cuda_abi.hpp"

namespace stope::stats::cuda {

class PassSession {
 public:
  /// Works on the current GPU.
  PassSession(int gpu, std::int64_t piece_bytes, std::int64_t n_columns);
  int gpu() const { return gpu_; }
  void submit(int slot, const cuda_abi::Values& values);
  void collect(int slot, void* parts);

 private:
  struct Slot {
    stope::cuda::Stream stream;
    stope::cuda::DeviceBuffer<char> values, first, second;
    stope::cuda::PinnedBuffer<char> parts;
    std::int64_t bytes = 0;  ///< bytes of parts that are under way
  };

  int gpu_;
  std::int64_t n_columns_;
  stope::cuda::Uploader uploader_;
  Slot slots_[cuda_abi::kSlots];
};

/// Computes values in the memory of the current GPU; `parts` is host memory. Waits for the result and returns the
/// milliseconds that the GPU worked.
float describe_on_gpu(const cuda_abi::Values& values, cudaStream_t stream, void* parts);

}  // namespace stope::stats::cuda
