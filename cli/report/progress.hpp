// A progress line on stderr: bar, rate and time left of the current phase.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace stope::cli {

/// How progress is shown. off: not at all. terminal: one line, redrawn in place once a phase has run for a second.
/// lines: one line per second from the start, for logs (--progress yes where stderr is no terminal).
enum class ProgressStyle { off, terminal, lines };

class Progress {
 public:
  explicit Progress(ProgressStyle style) : style_(style) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// As stope::ProgressCallback: `done` of `total` in the phase's own unit, total 0 where it is not known.
  void update(std::string_view phase, std::int64_t done, std::int64_t total);
  /// Takes the line off the terminal, so that other text can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  ProgressStyle style_;
  std::string phase_;
  Clock::time_point phase_start_, last_drawn_;
  bool drawn_ = false;
};

/// The text of one progress line, at most about 80 characters.
std::string progress_line(std::string_view phase, std::int64_t done, std::int64_t total, double seconds);

}  // namespace stope::cli
