// Progress of a phase that several threads work on: their counts are summed, and one thread at a time reports the sum.
#pragma once

#include <cstdint>
#include <mutex>

#include "stope/run.hpp"

namespace stope {

class SharedProgress {
 public:
  /// `callback` may be null or empty; it and `phase` outlive this object. `done` is the part of the total that earlier
  /// passes have done.
  SharedProgress(const ProgressCallback* callback, const char* phase, std::int64_t total, std::int64_t done = 0)
      : callback_(callback), phase_(phase), total_(total), done_(done) {}

  /// Adds n to what is done.
  void add(std::int64_t n) {
    if (callback_ == nullptr || !*callback_) return;
    const std::lock_guard lock(mutex_);
    done_ += n;
    (*callback_)(phase_, done_, total_);
  }

 private:
  const ProgressCallback* callback_;
  const char* phase_;
  std::int64_t total_, done_;
  std::mutex mutex_;
};

}  // namespace stope
