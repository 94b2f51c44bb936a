#include "device/cuda/upload.hpp"

#include <algorithm>
#include <cstring>

namespace stope::cuda {

Uploader::Uploader(std::int64_t piece_bytes)
    : pieces_{PinnedBuffer<char>(piece_bytes), PinnedBuffer<char>(piece_bytes)} {}

void Uploader::copy(void* to, const void* from, std::int64_t bytes, const Stream& stream) {
  for (std::int64_t begin = 0; begin < bytes; next_ ^= 1) {
    const std::int64_t n = std::min(pieces_[next_].bytes(), bytes - begin);
    copied_[next_].wait();
    std::memcpy(pieces_[next_].data(), static_cast<const char*>(from) + begin, static_cast<std::size_t>(n));
    check(cudaMemcpyAsync(static_cast<char*>(to) + begin, pieces_[next_].data(), static_cast<std::size_t>(n),
                          cudaMemcpyHostToDevice, stream.get()),
          "copying to the GPU");
    copied_[next_].record(stream);
    begin += n;
  }
}

}  // namespace stope::cuda
