// Begins blocks of queries ahead of those that are finished. Where it may, it does so in a thread of its own, so that
// the host prepares one block while it hands on another.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace stope::knn {

class BlockFeeder {
 public:
  enum class In { a_thread, the_callers };
  /// Calls begin(number) for 0, 1, ... n_blocks - 1 in order, at most `under_way` ahead of done(). The constructor
  /// makes the first call before it returns; a thread of its own makes the others. wait_for() makes them if `in` says
  /// so, or if the system has no thread to give.
  BlockFeeder(std::int64_t n_blocks, std::int64_t under_way, In in, std::function<void(std::int64_t)> begin);
  /// Waits until a running begin() has returned, and calls no other.
  ~BlockFeeder();
  BlockFeeder(const BlockFeeder&) = delete;
  BlockFeeder& operator=(const BlockFeeder&) = delete;

  /// Waits until block `number` has begun; throws the error of its begin().
  void wait_for(std::int64_t number);
  /// Says that block `number`, the next in order, is finished.
  void done(std::int64_t number);

 private:
  void feed();

  const std::int64_t n_blocks_, under_way_;
  const std::function<void(std::int64_t)> begin_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t begun_ = 0, done_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;  // of begin(begun_)
  std::jthread thread_;
};

}  // namespace stope::knn
