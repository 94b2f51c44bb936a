#include "base/thread_pool.hpp"

#include <algorithm>
#include <exception>

#include "stope/error.hpp"

namespace stope {

ThreadPool::ThreadPool(int threads) {
  constexpr int kMost = 4096;  // far beyond any machine; an absurd request must not exhaust the system
  const int wanted = std::min(threads > 0 ? threads : available_threads(), kMost);
  workers_.reserve(static_cast<std::size_t>(wanted - 1));
  for (int worker = 1; worker < wanted; ++worker) {
    try {
      workers_.emplace_back([this, worker] { work(worker); });
    } catch (const std::exception&) {
      // The system has a limit of threads, or no memory for a stack. Fewer threads compute the same result. Throwing
      // from the constructor here would join workers that nobody has told to stop.
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
}

void ThreadPool::work(int worker) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || (open_ && round_ != seen); });
      if (stop_) return;
      seen = round_;
      ++busy_;
    }
    drain(worker);
    {
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }
}

void ThreadPool::drain(int worker) {
  for (;;) {
    const std::int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= n_tasks_) return;
    try {
      cancel_->check();
      (*task_)(i, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      // The error of the lowest failing task wins, so that the message does not depend on the schedule.
      if (error_ == nullptr || i < error_task_) {
        error_ = std::current_exception();
        error_task_ = i;
      }
      next_.store(n_tasks_, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::parallel_for(std::int64_t n_tasks, const CancelToken& cancel,
                              const std::function<void(std::int64_t, int)>& task) {
  if (n_tasks <= 0) return;
  {
    const std::lock_guard lock(mutex_);
    if (running_) throw Error(ErrorCode::internal, "a thread pool was given work while it was working");
    running_ = true;
    task_ = &task;
    cancel_ = &cancel;
    n_tasks_ = n_tasks;
    next_.store(0, std::memory_order_relaxed);
    error_ = nullptr;
    open_ = true;
    ++round_;
  }
  start_.notify_all();
  drain(0);
  std::exception_ptr error;
  {
    // Workers that have not woken by now find nothing to do. Waiting for them would take longer than a short round.
    std::unique_lock lock(mutex_);
    open_ = false;
    done_.wait(lock, [&] { return busy_ == 0; });
    std::swap(error, error_);
    running_ = false;
  }
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace stope
