#include "base/thread_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "base/open_round.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr int kMost = 4096;  // far beyond any machine; an absurd request must not exhaust the system

// Looks at a condition again and again until it holds or the time is over. Returns whether it has held.
template <class Condition>
bool look_for(std::chrono::microseconds time, const Condition& condition) {
  constexpr int kLooksBetweenTimes = 64;  // reading the clock takes as long as some looks
  if (time.count() == 0) return false;
  if (condition()) return true;
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < kLooksBetweenTimes; ++i) {
      if (condition()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

// A round of tasks, and what the workers wait on. It lies apart from the pool, so that a forked process can leave it
// alone.
struct ThreadPool::Round {
  std::mutex mutex;
  std::condition_variable start, done;
  // All are written under the mutex. Atomic ones are also looked at without it, by those that are not asleep yet.
  OpenRound joinable;
  std::atomic<int> busy = 0;  // workers in this round
  std::atomic<bool> stop = false;
  bool running = false;  // a parallel_for is under way: a nested one would wait for itself

  // The round's work: it is written before the round starts, and workers read it under the mutex.
  const std::function<void(std::int64_t, int)>* task = nullptr;
  const CancelToken* cancel = nullptr;
  std::int64_t n_tasks = 0;
  std::atomic<std::int64_t> next{0};
  PhaseProgress* counted = nullptr;       // the phase that the tasks count for
  std::atomic<std::int64_t> finished{0};  // tasks; for `counted` alone
  std::exception_ptr error;
  std::int64_t error_task = 0;

  void work(int worker, std::chrono::microseconds awake);
  void drain(int worker);
  void keep_error(std::int64_t failed);
  void wait_for_workers(PhaseProgress* progress, std::chrono::microseconds awake);
};

ThreadPool::ThreadPool(int threads, std::chrono::microseconds awake)
    : size_(std::min(threads > 0 ? threads : available_threads(), kMost)),
      awake_(awake),
      round_(std::make_unique<Round>()) {}

ThreadPool::~ThreadPool() {
  if (workers_.empty()) return;
  if (process_ != ::getpid()) {
    for (std::jthread& worker : workers_) worker.detach();
    // Its condition variables count waiters that will never leave. Destroying them would wait for that.
    static_cast<void>(round_.release());
    return;
  }
  {
    const std::lock_guard lock(round_->mutex);
    round_->stop = true;
  }
  round_->start.notify_all();
  workers_.clear();
}

void ThreadPool::start_workers(std::int64_t n_tasks) {
  const std::int64_t wanted = std::min<std::int64_t>(n_tasks, size_) - 1;
  if (workers_.empty()) process_ = ::getpid();
  while (!refused_ && static_cast<std::int64_t>(workers_.size()) < wanted) {
    try {
      workers_.emplace_back([round = round_.get(), worker = static_cast<int>(workers_.size()) + 1, awake = awake_] {
        round->work(worker, awake);
      });
    } catch (const std::exception&) {
      // The system has a limit of threads, or no memory for a stack. Fewer threads compute the same result.
      refused_ = true;
    }
  }
}

void ThreadPool::Round::work(int worker, std::chrono::microseconds awake) {
  std::uint64_t joined = 0;
  const auto called = [&] { return stop || joinable.is_new_to(joined); };
  for (;;) {
    const bool seen = look_for(awake, called);
    {
      std::unique_lock lock(mutex);
      if (seen && !called()) continue;  // that round is over: look for the next one
      start.wait(lock, called);
      if (stop) return;
      joined = joinable.number();
      ++busy;
    }
    drain(worker);
    {
      const std::lock_guard lock(mutex);
      if (--busy == 0) done.notify_one();
    }
  }
}

void ThreadPool::Round::drain(int worker) {
  for (;;) {
    const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= n_tasks) return;
    try {
      cancel->check();
      (*task)(i, worker);
      if (counted == nullptr) continue;
      const std::int64_t n = finished.fetch_add(1, std::memory_order_relaxed) + 1;
      if (worker == 0) counted->tell_round(n);
    } catch (...) {
      keep_error(i);
    }
  }
}

// Keeps the exception that is being handled. The error of the lowest failing task wins, so that the message does not
// depend on the schedule.
void ThreadPool::Round::keep_error(std::int64_t failed) {
  const std::lock_guard lock(mutex);
  if (error == nullptr || failed < error_task) {
    error = std::current_exception();
    error_task = failed;
  }
  next.store(n_tasks, std::memory_order_relaxed);
}

// Waits until no worker is in the round. Workers that have not woken by now find nothing to do: waiting for them would
// take longer than a short round.
void ThreadPool::Round::wait_for_workers(PhaseProgress* progress, std::chrono::microseconds awake) {
  constexpr std::chrono::milliseconds kTellEvery{100};
  std::unique_lock lock(mutex);
  joinable.close();
  if (busy != 0) {
    lock.unlock();
    look_for(awake, [&] { return busy == 0; });
    lock.lock();
  }
  const auto idle = [&] { return busy == 0; };
  bool told = progress != nullptr || counted != nullptr;
  while (told && !done.wait_for(lock, kTellEvery, idle)) {
    lock.unlock();
    try {
      if (progress != nullptr) progress->tell();
      if (counted != nullptr) counted->tell_round(finished.load(std::memory_order_relaxed));
    } catch (...) {  // the callback's own: the round ends, and the caller gets it unless a task has failed
      keep_error(n_tasks);
      told = false;
    }
    lock.lock();
  }
  done.wait(lock, idle);
}

void ThreadPool::parallel_for(std::int64_t n_tasks, const CancelToken& cancel,
                              const std::function<void(std::int64_t, int)>& task, PhaseProgress* progress) {
  if (n_tasks <= 0) return;
  Round& round = *round_;
  PhaseProgress* const own = progress == nullptr ? PhaseProgress::current() : nullptr;
  PhaseProgress* const counted = own != nullptr && own->counts_rounds() ? own : nullptr;
  {
    const std::lock_guard lock(round.mutex);
    if (round.running) throw Error(ErrorCode::internal, "a thread pool was given work while it was working");
    round.running = true;
    round.task = &task;
    round.cancel = &cancel;
    round.n_tasks = n_tasks;
    round.next.store(0, std::memory_order_relaxed);
    round.counted = counted;
    round.finished.store(0, std::memory_order_relaxed);
    round.error = nullptr;
    round.joinable.open();
  }
  if (counted != nullptr) counted->begin_round(n_tasks);
  if (n_tasks > 1 && size_ > 1) {
    if (!workers_.empty()) round.start.notify_all();
    start_workers(n_tasks);  // they find the round open
  }
  round.drain(0);
  round.wait_for_workers(progress, awake_);
  std::exception_ptr error;
  {
    const std::lock_guard lock(round.mutex);
    std::swap(error, round.error);
    round.running = false;
  }
  if (counted != nullptr) counted->end_round(error == nullptr);
  if (error != nullptr) std::rethrow_exception(error);
  if (progress != nullptr) progress->tell();
}

}  // namespace stope
