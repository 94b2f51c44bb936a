// A progress line on stderr (cli/report/progress.hpp).
#include "report/progress.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <system_error>

#include "standard_streams.hpp"
#include "stope/run.hpp"

namespace stope::cli {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr milliseconds kRedraw{100};  // the eye cannot follow faster changes
constexpr milliseconds kLineEvery{1000};
constexpr std::size_t kBarCells = 24;
constexpr double kShortest = 0.05;  // seconds; a rate over a shorter time is noise

/// 1234567 -> "1.23 M": three digits and a power of 1000.
std::string short_number(double value) {
  constexpr const char* kPowers[] = {"", " k", " M", " G", " T", " P"};
  std::size_t power = 0;
  while (value >= 999.5 && power + 1 < std::size(kPowers)) {
    value /= 1000;
    ++power;
  }
  return fmt::format("{:.{}f}{}", value,
                     value < 9.995 && power > 0   ? 2
                     : value < 99.95 && power > 0 ? 1
                                                  : 0,
                     kPowers[power]);
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::min(seconds + 0.5, 3.6e8));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(std::string_view phase, std::int64_t done, std::int64_t total, double seconds) {
  const double rate = seconds >= kShortest ? static_cast<double>(done) / seconds : 0;
  const std::string speed = rate > 0 ? "  " + short_number(rate) + "/s" : "";
  const std::string count = short_number(static_cast<double>(done));
  const std::string elapsed = "  " + clock_time(seconds);
  if (total <= 0) return fmt::format("{}  {}{}{}", phase, count, speed, elapsed);
  const double part = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(part * kBarCells);
  const std::string bar = std::string(filled, '#') + std::string(kBarCells - filled, '.');
  std::string line = fmt::format("{}  [{}] {:3.0f} %  {} of {}{}", phase, bar, part * 100, count,
                                 short_number(static_cast<double>(total)), speed);
  if (done >= total) return line;
  return line + (rate > 0 ? "  " + clock_time(static_cast<double>(total - done) / rate) + " left" : elapsed);
}

Progress::Progress(ProgressStyle style) : style_(style) {
  if (style == ProgressStyle::off) return;
  const bool lines = style == ProgressStyle::lines;
  const milliseconds delay{progress_delay()};
  delay_ = lines ? milliseconds(0) : delay;
  every_ = std::min(delay, lines ? kLineEvery : kRedraw);
  // Signals are for the thread that runs the command: they interrupt what it waits for.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    again_ = std::thread([this] { draw_again(); });
  } catch (const std::system_error&) {
    again_ = {};  // without the thread, a line is drawn when something is told
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  if (again_.joinable()) again_.join();
  wipe();
}

void Progress::update(std::string_view phase, std::int64_t done, std::int64_t total) {
  if (style_ == ProgressStyle::off) return;
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  const bool lines = style_ == ProgressStyle::lines;
  if (phase != phase_) {
    phase_ = phase;
    phase_start_ = now;
    if (lines) last_drawn_ = {};  // every phase has a line
  }
  const bool finished = lines && total > 0 && done >= total && done != done_;
  done_ = done;
  total_ = total;
  silent_ = false;
  if (finished || now - last_drawn_ >= every_) draw(now);
}

// Only what was told at least once, and is not done, is drawn again.
void Progress::draw_again() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, every_, [this] { return stop_; })) {
    const Clock::time_point now = Clock::now();
    const bool open = total_ == 0 || done_ < total_;
    if (!silent_ && open && now - last_drawn_ >= every_) draw(now);
  }
}

void Progress::draw(Clock::time_point now) {
  if (now - start_ < delay_) return;
  last_drawn_ = now;
  const bool lines = style_ == ProgressStyle::lines;
  const std::string line = progress_line(phase_, done_, total_, duration<double>(now - phase_start_).count());
  // "\r" returns to the start of the line, and "\033[K" wipes the rest of a longer line.
  write_to_stderr(lines ? line + "\n" : "\r" + line + "\033[K");
  drawn_ = !lines;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  silent_ = true;
  wipe();
}

void Progress::wipe() {
  if (!drawn_) return;
  write_to_stderr("\r\033[K");
  drawn_ = false;
}

}  // namespace stope::cli
