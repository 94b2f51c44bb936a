// Copies host memory to a GPU through two pinned buffers. While the GPU copies one, the CPU fills the other, and
// neither keeps the GPU from computing.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"

namespace stope::cuda {

class Uploader {
 public:
  /// `piece_bytes` is the size of each pinned buffer, at least 1. Some megabytes hide the cost of a call.
  explicit Uploader(std::int64_t piece_bytes);
  /// Queues a copy in `stream`. On return the caller may change `from`; the copy may still be under way.
  void copy(void* to, const void* from, std::int64_t bytes, const Stream& stream);

 private:
  PinnedBuffer<char> pieces_[2];
  Event copied_[2];
  int next_ = 0;
};

}  // namespace stope::cuda
