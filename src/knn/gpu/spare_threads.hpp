// Threads that go from one search to the next: starting some takes longer than their work in a search of some thousand
// queries.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/thread_pool.hpp"

namespace stope::knn {

/// Pools that sleep. Several threads may use it at once.
class SpareThreads {
 public:
  /// Returns a pool of n threads.
  std::unique_ptr<ThreadPool> borrow(int n);
  /// Keeps a pool for the next borrower; ignores null.
  void give_back(std::unique_ptr<ThreadPool> threads);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadPool>> pools_;
};

}  // namespace stope::knn
