// Pinned memory that goes from one search to the next, since making a few MB of it takes a millisecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "device/pinned.hpp"

namespace stope::device {

/// A pool that several threads may use at once.
template <class T>
class PinnedPool {
 public:
  /// Lends at least `size` values; throws what Pinned throws.
  Pinned<T> borrow(int gpu, std::int64_t size) {
    {
      const std::scoped_lock lock(mutex_);
      const auto fits =
          std::find_if(spare_.begin(), spare_.end(), [&](const Pinned<T>& spare) { return spare.size() >= size; });
      if (fits != spare_.end()) {
        Pinned<T> memory = std::move(*fits);
        spare_.erase(fits);
        return memory;
      }
    }
    return {gpu, size};
  }

  /// Keeps memory for the next borrower; only the largest pieces are kept. Ignores memory of size 0.
  void give_back(Pinned<T> memory) {
    constexpr std::size_t kMostSpare = 3;  // as many as one search uses
    if (memory.size() == 0) return;
    const std::scoped_lock lock(mutex_);
    if (spare_.size() == kMostSpare) {
      const auto smallest = std::min_element(spare_.begin(), spare_.end(),
                                             [](const auto& a, const auto& b) { return a.size() < b.size(); });
      if (smallest->size() >= memory.size()) return;
      spare_.erase(smallest);
    }
    spare_.push_back(std::move(memory));
  }

 private:
  std::mutex mutex_;
  std::vector<Pinned<T>> spare_;
};

}  // namespace stope::device
