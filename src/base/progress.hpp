// Progress of a job: the callback and the watch of its RunOptions, told by the thread that called the job alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>

#include "stope/run.hpp"

namespace stope {

/// Tells the callback and the watch. Only the thread that called the job may call it.
inline void tell_progress(const RunOptions& run, std::string_view phase, std::int64_t done, std::int64_t total) {
  run.watch.update(phase, done, total);
  if (run.progress) run.progress(phase, done, total);
}

/// The options of a step that says nothing, because it is one of many, or runs on a worker.
inline RunOptions silent(RunOptions run) {
  run.progress = {};
  run.watch = {};
  run.warn = {};
  run.report = {};
  return run;
}

/// Says on the watch that a job is under way, as long as it lives.
class RunningJob {
 public:
  explicit RunningJob(const RunOptions& run) : watch_(run.watch) { watch_.begin(); }
  ~RunningJob() { watch_.end(); }
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;

 private:
  ProgressWatch watch_;
};

/// A phase that several threads work on. Workers count what they have done; the thread that made the phase tells it,
/// when it counts itself and while it waits for the others (ThreadPool::parallel_for).
///
/// While it lives, it is the phase of its thread, as far as no newer one is. Rounds of a thread pool that are given no
/// phase then count for it, task by task: all of them where the total is not known, else those that a PhaseSpan
/// announces.
class PhaseProgress {
 public:
  /// `run` and `phase` outlive this object. `done` is the part of the total that earlier passes have done; a total of 0
  /// is not known.
  PhaseProgress(const RunOptions& run, std::string_view phase, std::int64_t total, std::int64_t done = 0)
      : run_(run),
        phase_(phase),
        total_(total),
        done_(done),
        told_(done),
        caller_(std::this_thread::get_id()),
        outer_(current()) {
    current() = this;
  }
  ~PhaseProgress() { current() = outer_; }
  PhaseProgress(const PhaseProgress&) = delete;
  PhaseProgress& operator=(const PhaseProgress&) = delete;

  /// The phase of this thread; null if it has none.
  static PhaseProgress*& current() {
    static thread_local PhaseProgress* phase = nullptr;
    return phase;
  }

  /// Adds n to what is done. From any thread.
  void add(std::int64_t n) {
    done_.fetch_add(n, std::memory_order_relaxed);
    if (std::this_thread::get_id() == caller_) tell();
  }
  /// Tells what is done, if it is more than was told. Only from the thread that made the phase.
  void tell() { tell(done_.load(std::memory_order_relaxed)); }
  /// Says that so much is done, where that is more than before. Only from the thread that made the phase.
  void reach(std::int64_t done) {
    if (done > done_.load(std::memory_order_relaxed)) done_.store(done, std::memory_order_relaxed);
    tell();
  }

  std::int64_t done() const { return done_.load(std::memory_order_relaxed); }
  /// Counts a step where the total is not known, so that the phase is seen to move. Only from the thread that made it.
  void go_on() {
    if (total_ == 0 && round_tasks_ == 0) add(1);
  }

  /// A round of tasks that counts for this phase. Only from the thread that made the phase.
  bool counts_rounds() const { return round_tasks_ == 0 && (total_ == 0 || rounds_left_ > 0); }
  void begin_round(std::int64_t n_tasks) {
    round_tasks_ = n_tasks;  // until it ends, rounds inside its tasks do not count
    from_ = total_ == 0 ? static_cast<double>(done_.load(std::memory_order_relaxed)) : from_;
    step_ = total_ == 0 ? static_cast<double>(n_tasks) : (to_ - from_) / static_cast<double>(rounds_left_);
  }
  void tell_round(std::int64_t finished) {
    reach(static_cast<std::int64_t>(from_ + step_ * static_cast<double>(finished) / static_cast<double>(round_tasks_)));
  }
  void end_round(bool complete) {
    round_tasks_ = 0;
    from_ += step_;
    if (total_ != 0) --rounds_left_;
    if (complete) reach(static_cast<std::int64_t>(from_));
  }

 private:
  friend class PhaseSpan;

  void tell(std::int64_t done) {
    if (done <= told_) return;
    told_ = done;
    tell_progress(run_, phase_, done, total_);
  }

  const RunOptions& run_;
  RunningJob running_{run_};
  std::string_view phase_;
  std::int64_t total_;
  std::atomic<std::int64_t> done_;
  std::int64_t told_;
  std::thread::id caller_;
  PhaseProgress* outer_;
  double from_ = 0, to_ = 0;      // the innermost span; the rounds that are left divide it equally
  std::int64_t rounds_left_ = 0;  // rounds that the span still counts
  double step_ = 0;               // what the round under way is worth
  std::int64_t round_tasks_ = 0;
};

/// Polls the cancel token, and shows that the phase of this thread moves. For long loops that no thread pool divides.
inline void poll_step(const CancelToken& cancel) {
  cancel.check();
  if (PhaseProgress* const phase = PhaseProgress::current(); phase != nullptr) phase->go_on();
}

/// A part of what this thread's phase has to do, and the rounds of a thread pool that do it. Spans nest: the part of an
/// inner one is a share of the outer one's. Does nothing on a thread without a phase.
class PhaseSpan {
 public:
  /// The units [begin, end) of the phase; the next `n_rounds` rounds of this thread do them.
  PhaseSpan(PhaseProgress& phase, std::int64_t begin, std::int64_t end, std::int64_t n_rounds = 0)
      : PhaseSpan(&phase, static_cast<double>(begin), static_cast<double>(end), n_rounds) {}
  /// Share `i` of `n` equal ones of the innermost span; the next `n_rounds` rounds of this thread do it.
  static PhaseSpan share(std::int64_t i, std::int64_t n, std::int64_t n_rounds) {
    PhaseProgress* const phase = PhaseProgress::current();
    if (phase == nullptr) return {nullptr, 0, 0, 0};
    const double size = (phase->to_ - phase->from_) / static_cast<double>(n - i);
    return {phase, phase->from_, phase->from_ + size, n_rounds};
  }
  ~PhaseSpan() {
    if (phase_ == nullptr) return;
    phase_->from_ = end_;
    phase_->to_ = outer_to_;
    phase_->rounds_left_ = outer_rounds_;
  }
  PhaseSpan(const PhaseSpan&) = delete;
  PhaseSpan& operator=(const PhaseSpan&) = delete;

 private:
  PhaseSpan(PhaseProgress* phase, double from, double to, std::int64_t n_rounds) : phase_(phase), end_(to) {
    if (phase == nullptr) return;
    outer_to_ = phase->to_;
    outer_rounds_ = phase->rounds_left_;
    phase->from_ = from;
    phase->to_ = to;
    phase->rounds_left_ = n_rounds;
  }

  PhaseProgress* phase_;
  double end_;
  double outer_to_ = 0;
  std::int64_t outer_rounds_ = 0;
};

/// Tells of a long task from inside, and polls the cancel token. From any thread.
class TaskProgress {
 public:
  /// The task is worth n units of the phase.
  TaskProgress(PhaseProgress& phase, const CancelToken& cancel, std::int64_t n)
      : phase_(phase), cancel_(cancel), n_(n) {}

  /// Says that `part` of `whole` is done. Throws Error{cancelled}.
  void at(std::int64_t part, std::int64_t whole) {
    cancel_.check();
    const auto now = static_cast<std::int64_t>(static_cast<double>(n_) * static_cast<double>(part) /
                                               static_cast<double>(std::max<std::int64_t>(whole, 1)));
    if (now <= told_ || now > n_) return;
    phase_.add(now - told_);
    told_ = now;
  }
  /// Only polls.
  void poll() const { cancel_.check(); }
  /// Adds what is missing of the n units.
  void finish() { at(1, 1); }

 private:
  PhaseProgress& phase_;
  const CancelToken& cancel_;
  std::int64_t n_;
  std::int64_t told_ = 0;
};

}  // namespace stope
