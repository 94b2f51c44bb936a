#include "knn/gpu/spare_threads.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stope::knn {

std::unique_ptr<ThreadPool> SpareThreads::borrow(int n) {
  {
    const std::scoped_lock lock(mutex_);
    const auto fits = std::find_if(pools_.begin(), pools_.end(),
                                   [&](const std::unique_ptr<ThreadPool>& spare) { return spare->size() == n; });
    if (fits != pools_.end()) {
      std::unique_ptr<ThreadPool> threads = std::move(*fits);
      pools_.erase(fits);
      return threads;
    }
  }
  return std::make_unique<ThreadPool>(n);
}

void SpareThreads::give_back(std::unique_ptr<ThreadPool> threads) {
  constexpr std::size_t kMostSpare = 2;  // as many as one search uses
  if (threads == nullptr) return;
  std::unique_ptr<ThreadPool> gone;  // declared before the lock, so that its threads end after the lock is released
  const std::scoped_lock lock(mutex_);
  if (pools_.size() == kMostSpare) {
    gone = std::move(pools_.front());
    pools_.erase(pools_.begin());
  }
  pools_.push_back(std::move(threads));
}

}  // namespace stope::knn
