// Memory on its way to a GPU: threads write it to pinned memory, piece by piece. While one piece is copied to the GPU,
// they write the next. The core and the plug-in use this, for every job.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/checked.hpp"

namespace stope::device {

/// Sizes in bytes; a piece and a task are at least 1. Pieces are divided into tasks.
struct StagedSizes {
  std::int64_t all = 0, piece = 0, task = std::int64_t{256} << 10;
};

/// One thread, the owner, says where the next piece may be written, and waits until it is there; meanwhile it works as
/// well. Two pieces may be under way.
class Staging {
 public:
  /// Writes bytes [at, at + n) of one piece to `to`. Several threads call it at once.
  using Write = std::function<void(std::int64_t at, std::int64_t n, char* to)>;

  /// `threads` includes the owner; if the system refuses some, there are fewer.
  Staging(const StagedSizes& sizes, int threads, Write write)
      : sizes_(sizes),
        write_(std::move(write)),
        of_piece_(checked::ceil_div(sizes.piece, sizes.task)),
        n_pieces_(checked::ceil_div(sizes.all, sizes.piece)),
        n_tasks_(n_pieces_ == 0 ? 0 : (n_pieces_ - 1) * of_piece_ + tasks_of(n_pieces_ - 1)),
        unstarted_(std::min<std::int64_t>(threads, n_tasks_) - 1) {}
  /// Also ends what was given up. No thread writes any more then.
  ~Staging() {
    stop_.store(true, std::memory_order_relaxed);
    allow(n_pieces_);
    others_.clear();
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::int64_t n_pieces() const { return n_pieces_; }
  std::int64_t bytes_of(std::int64_t piece) const { return std::min(sizes_.piece, sizes_.all - piece * sizes_.piece); }

  /// The next piece may be written there. The one in front of it must have been filled.
  void allow_next(char* to) {
    const std::int64_t piece = allowed_.load(std::memory_order_relaxed);
    places_[piece % 2] = to;
    allow(piece + 1);
    start();  // the first threads write while others are started
  }

  /// Returns once the piece that was allowed last is there. Rethrows what `write` threw, if it did.
  void fill() {
    const std::int64_t piece = allowed_.load(std::memory_order_relaxed) - 1;
    const std::int64_t end = piece * of_piece_ + tasks_of(piece);
    for (std::int64_t task = next_.load(std::memory_order_relaxed); task < end;) {
      if (next_.compare_exchange_weak(task, task + 1, std::memory_order_relaxed)) do_task(task++);
    }
    wait_until_above(done_, end - 1);  // tasks of later pieces have not begun
    const std::scoped_lock lock(mutex_);
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::int64_t tasks_of(std::int64_t piece) const { return checked::ceil_div(bytes_of(piece), sizes_.task); }

  // Looks again and again for some tens of microseconds, which a sleeping thread takes to wake, and then sleeps.
  static void wait_until_above(const std::atomic<std::int64_t>& number, std::int64_t least) {
    constexpr int kLooks = 2000;
    for (int looks = 0; looks < kLooks; ++looks) {
      if (number.load(std::memory_order_acquire) > least) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    for (std::int64_t n = number.load(std::memory_order_acquire); n <= least;
         n = number.load(std::memory_order_acquire)) {
      number.wait(n, std::memory_order_acquire);
    }
  }

  void allow(std::int64_t n) {
    allowed_.store(n, std::memory_order_release);
    allowed_.notify_all();
  }

  void start() {
    for (; unstarted_ > 0; --unstarted_) {
      try {
        others_.emplace_back([this] { help(); });
      } catch (const std::exception&) {
        unstarted_ = 1;  // the system has no thread to give
      }
    }
  }

  void help() {
    for (;;) {
      const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
      if (task >= n_tasks_) return;
      wait_until_above(allowed_, task / of_piece_);
      if (stop_.load(std::memory_order_relaxed)) return;
      do_task(task);
    }
  }

  void do_task(std::int64_t task) {
    const std::int64_t piece = task / of_piece_, at = task % of_piece_ * sizes_.task;
    try {
      write_(piece * sizes_.piece + at, std::min(sizes_.task, bytes_of(piece) - at), places_[piece % 2] + at);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      error_ = std::current_exception();
    }
    done_.fetch_add(1, std::memory_order_release);
    done_.notify_one();
  }

  const StagedSizes sizes_;
  const Write write_;
  const std::int64_t of_piece_, n_pieces_, n_tasks_;
  std::int64_t unstarted_;                       // threads
  char* places_[2] = {};                         // written before a piece is allowed
  std::atomic<std::int64_t> next_{0}, done_{0};  // tasks
  std::atomic<std::int64_t> allowed_{0};         // pieces
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::jthread> others_;
};

}  // namespace stope::device
