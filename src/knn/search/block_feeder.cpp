#include "knn/search/block_feeder.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace stope::knn {

BlockFeeder::BlockFeeder(std::int64_t n_blocks, std::int64_t under_way, In in, std::function<void(std::int64_t)> begin)
    : n_blocks_(n_blocks), under_way_(under_way), begin_(std::move(begin)) {
  if (n_blocks > 0) {
    begin_(0);  // in this thread: the work it queues is under way before another thread could wake
    begun_ = 1;
  }
  if (n_blocks <= 1 || under_way <= 1 || in == In::the_callers) return;
  try {
    thread_ = std::jthread([this] { feed(); });
  } catch (const std::system_error&) {
    thread_ = {};  // wait_for() begins the blocks
  }
}

BlockFeeder::~BlockFeeder() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

void BlockFeeder::feed() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || begun_ < done_ + under_way_; });
    if (stop_ || begun_ == n_blocks_) return;
    const std::int64_t number = begun_;
    lock.unlock();
    std::exception_ptr error;
    try {
      begin_(number);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    if (error == nullptr) ++begun_;
    changed_.notify_all();
    if (error != nullptr) return;
  }
}

void BlockFeeder::wait_for(std::int64_t number) {
  if (!thread_.joinable()) {
    for (; begun_ < std::min(n_blocks_, number + under_way_); ++begun_) begin_(begun_);
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return begun_ > number || error_ != nullptr; });
  if (begun_ <= number) std::rethrow_exception(error_);
}

void BlockFeeder::done(std::int64_t number) {
  {
    const std::scoped_lock lock(mutex_);
    done_ = number + 1;
  }
  changed_.notify_all();
}

}  // namespace stope::knn
