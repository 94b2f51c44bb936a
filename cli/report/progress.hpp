// A progress line on stderr: bar, rate and time left of the current phase.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace stope::cli {

/// How progress is shown. off: not at all. terminal: one line, redrawn in place once the command has run for a second.
/// lines: one line per second from the start, for logs (--progress yes where stderr is no terminal).
enum class ProgressStyle { off, terminal, lines };

/// Draws what it was told last. A thread of its own draws it again while nothing new is told: the rate falls, the time
/// goes on, and the user sees that the program lives.
class Progress {
 public:
  explicit Progress(ProgressStyle style);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// As stope::ProgressCallback: `done` of `total` in the phase's own unit, total 0 where it is not known.
  void update(std::string_view phase, std::int64_t done, std::int64_t total);
  /// Takes the line off the terminal, so that other text can be printed. It comes back when something is told.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void draw_again();
  void draw(Clock::time_point now);
  void wipe();

  const ProgressStyle style_;
  std::chrono::milliseconds delay_{}, every_{};  // until the first line, and between two
  Clock::time_point start_ = Clock::now();
  std::mutex mutex_;  // held for all that follows, and for what is printed
  std::string phase_;
  std::int64_t done_ = 0, total_ = 0;
  Clock::time_point phase_start_, last_drawn_;
  bool drawn_ = false;  // a line stands on the terminal
  bool silent_ = true;  // nothing was told since clear()
  bool stop_ = false;
  std::condition_variable stopped_;
  std::thread again_;
};

/// The text of one progress line, at most about 80 characters.
std::string progress_line(std::string_view phase, std::int64_t done, std::int64_t total, double seconds);

}  // namespace stope::cli
