#include "device/cuda/upload.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace stope::cuda {
namespace {

// One thread copies about 8 GB/s, and the bus can take 55. Several threads pay only if a piece takes longer to copy
// than they take to start.
constexpr std::int64_t kThreads = 4, kLeastShare = std::int64_t{1} << 20;

void copy_in_threads(char* to, const char* from, std::int64_t n) {
  const std::int64_t shares = std::clamp<std::int64_t>(n / kLeastShare, 1, kThreads);
  const auto copy_share = [=](std::int64_t share) {
    const std::int64_t begin = n * share / shares, end = n * (share + 1) / shares;
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  };
  std::vector<std::jthread> others;
  std::int64_t share = 0;
  for (; share + 1 < shares; ++share) {
    try {
      others.emplace_back(copy_share, share);
    } catch (const std::system_error&) {
      break;  // the system has no thread to give: the calling thread copies the rest
    }
  }
  for (; share < shares; ++share) copy_share(share);
}

}  // namespace

Uploader::Uploader(std::int64_t piece_bytes)
    : pieces_{PinnedBuffer<char>(piece_bytes), PinnedBuffer<char>(piece_bytes)} {}

void Uploader::copy(void* to, const void* from, std::int64_t bytes, const Stream& stream) {
  for (std::int64_t begin = 0; begin < bytes; next_ ^= 1) {
    const std::int64_t n = std::min(pieces_[next_].bytes(), bytes - begin);
    copied_[next_].wait();
    copy_in_threads(pieces_[next_].data(), static_cast<const char*>(from) + begin, n);
    check(cudaMemcpyAsync(static_cast<char*>(to) + begin, pieces_[next_].data(), static_cast<std::size_t>(n),
                          cudaMemcpyHostToDevice, stream.get()),
          "copying to the GPU");
    copied_[next_].record(stream);
    begin += n;
  }
}

}  // namespace stope::cuda
