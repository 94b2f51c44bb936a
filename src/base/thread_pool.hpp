// A pool of std::jthread with parallel_for (docs/adr/0002-threads.md). Threads take the next task as they become free,
// and the caller gets the tasks' exceptions.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "stope/run.hpp"

namespace stope {

/// A fixed set of workers; the calling thread works too, so a pool of one thread starts none. Only one caller may use a
/// pool at a time.
class ThreadPool {
 public:
  /// threads <= 0: as many as the process may use. If the system refuses a thread, the pool makes do with fewer.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Runs task(i, worker) for i in [0, n_tasks), in any order, with worker in [0, size()). Returns when all are done.
  /// If tasks throw, tasks not yet begun are skipped, and the exception of the task with the lowest number is rethrown.
  /// Polls `cancel` before each task, and throws Error{cancelled} if it is set. A second call before the first has
  /// returned (from a task, or from another thread) throws Error{internal}.
  void parallel_for(std::int64_t n_tasks, const CancelToken& cancel,
                    const std::function<void(std::int64_t task, int worker)>& task);

 private:
  void work(int worker);
  void drain(int worker);

  std::vector<std::jthread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::uint64_t round_ = 0;  // a new value tells the workers that there is work
  bool open_ = false;        // whether workers may still join the round
  int busy_ = 0;             // workers in this round
  bool stop_ = false;
  bool running_ = false;  // a parallel_for is under way: a nested one would wait for itself

  // The round's work: it is written before the round starts, and workers read it under mutex_.
  const std::function<void(std::int64_t, int)>* task_ = nullptr;
  const CancelToken* cancel_ = nullptr;
  std::int64_t n_tasks_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::exception_ptr error_;
  std::int64_t error_task_ = 0;
};

}  // namespace stope
