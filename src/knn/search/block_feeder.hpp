// Begins blocks of queries ahead of those that are finished, if it may in a thread of its own: then what the host does
// for the one and for the other goes on at the same time.
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
  /// Calls begin(number) for 0, 1, ... n_blocks - 1 in order, at most `under_way` ahead of done(): the first before it
  /// returns, the others in a thread of its own or in wait_for(); in that, too, where the system has no thread to give.
  BlockFeeder(std::int64_t n_blocks, std::int64_t under_way, In in, std::function<void(std::int64_t)> begin);
  /// Waits until a begin() that runs has returned; no other is called.
  ~BlockFeeder();
  BlockFeeder(const BlockFeeder&) = delete;
  BlockFeeder& operator=(const BlockFeeder&) = delete;

  /// Until block `number` has begun; throws what its begin() threw.
  void wait_for(std::int64_t number);
  /// Block `number`, the next in order, is finished with.
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
