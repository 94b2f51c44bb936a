#include "device/cuda/upload.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include "device/staging.hpp"

namespace stope::cuda {
namespace {

// One thread copies about 8 GB/s, and the bus can take 55. A thread pays only for what takes longer to copy than it
// takes to start.
int threads_for(std::int64_t bytes) {
  constexpr std::int64_t kMost = 8, kShare = std::int64_t{2} << 20;
  const std::int64_t there = std::max(std::thread::hardware_concurrency(), 1U);
  return static_cast<int>(std::clamp<std::int64_t>(bytes / kShare, 1, std::min(there, kMost)));
}

}  // namespace

Uploader::Uploader(std::int64_t piece_bytes)
    : pieces_{PinnedBuffer<char>(piece_bytes), PinnedBuffer<char>(piece_bytes)} {}

void Uploader::copy(void* to, const void* from, std::int64_t bytes, const Stream& stream) {
  if (bytes <= 0) return;
  const std::int64_t piece_bytes = pieces_[0].bytes();
  device::Staging staging({.all = bytes, .piece = piece_bytes}, threads_for(bytes),
                          [from](std::int64_t at, std::int64_t n, char* there) {
                            std::memcpy(there, static_cast<const char*>(from) + at, static_cast<std::size_t>(n));
                          });
  for (std::int64_t piece = 0; piece < staging.n_pieces(); ++piece, next_ ^= 1) {
    copied_[next_].wait();
    staging.allow_next(pieces_[next_].data());
    staging.fill();
    check(cudaMemcpyAsync(static_cast<char*>(to) + piece * piece_bytes, pieces_[next_].data(),
                          static_cast<std::size_t>(staging.bytes_of(piece)), cudaMemcpyHostToDevice, stream.get()),
          "copying to the GPU");
    copied_[next_].record(stream);
  }
}

}  // namespace stope::cuda
