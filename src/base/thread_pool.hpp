// A pool of std::jthread with parallel_for (docs/adr/0002-threads.md). Threads start when there are tasks for them.
// They take the next task as they become free, and the caller gets the tasks' exceptions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/progress.hpp"
#include "stope/run.hpp"

namespace stope {

/// A fixed set of workers; the calling thread works too, so a pool of one thread starts none. Only one caller may use a
/// pool at a time.
class ThreadPool {
 public:
  /// threads <= 0: as many as the process may use. Starts none: a round of n tasks starts those that it lacks, up to n
  /// with the caller. If the system refuses a thread, the pool makes do with fewer.
  /// `awake`: how long a worker looks for the next round, and the caller for the end of one, before they sleep. Rounds
  /// of tens of microseconds that follow one another want that (docs/adr/0056-workers-that-stay-awake.md).
  explicit ThreadPool(int threads, std::chrono::microseconds awake = std::chrono::microseconds{0});
  /// Waits for the threads to end. In a process forked from the one that started them, where they do not exist, it
  /// forgets them.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The most threads that work at once, the caller included.
  int size() const { return size_; }

  /// Runs task(i, worker) for i in [0, n_tasks), in any order, with worker in [0, size()). Returns when all are done.
  /// If tasks throw, tasks not yet begun are skipped, and the exception of the task with the lowest number is rethrown.
  /// Polls `cancel` before each task, and throws Error{cancelled} if it is set. A second call before the first has
  /// returned (from a task, or from another thread) throws Error{internal}.
  /// `progress`, where there is one, is told while the calling thread waits, and at the end; tasks add to it. Without
  /// one, the tasks count for the phase of the calling thread, if that counts rounds (base/progress.hpp).
  void parallel_for(std::int64_t n_tasks, const CancelToken& cancel,
                    const std::function<void(std::int64_t task, int worker)>& task, PhaseProgress* progress = nullptr);

 private:
  struct Round;
  void start_workers(std::int64_t n_tasks);

  const int size_;
  const std::chrono::microseconds awake_;
  bool refused_ = false;  // the system has refused a thread
  std::unique_ptr<Round> round_;
  std::vector<std::jthread> workers_;  // only the caller of parallel_for touches it
  int process_ = 0;                    // that started the workers
};

}  // namespace stope
