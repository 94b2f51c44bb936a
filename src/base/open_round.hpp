// Which round of tasks the workers of a thread pool may join (base/thread_pool.cpp). A worker that joins a round that
// is over would read the tasks of the next one while they are written. This lies apart from the pool, because a test
// cannot choose the moment at which a worker wakes.
#pragma once

#include <atomic>
#include <cstdint>

namespace stope {

/// Rounds have numbers from 1. Written under the pool's mutex; also looked at without it.
class OpenRound {
 public:
  void open() { number_ = ++rounds_; }
  void close() { number_ = 0; }

  /// 0: no round is open.
  std::uint64_t number() const { return number_; }
  /// Whether a round is open that a worker has not joined yet: the last one it joined was `joined`, or 0.
  bool is_new_to(std::uint64_t joined) const { return number_ > joined; }

 private:
  std::atomic<std::uint64_t> number_ = 0;
  std::uint64_t rounds_ = 0;
};

}  // namespace stope
