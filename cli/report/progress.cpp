// A progress line on stderr (cli/report/progress.hpp).
#include "report/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace stope::cli {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr milliseconds kQuietStart{1000};  // work of less than a second shows nothing
constexpr milliseconds kRedraw{100};       // the eye cannot follow faster changes
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
  if (total <= 0) return fmt::format("{}  {}{}", phase, count, speed);
  const double part = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(part * kBarCells);
  const std::string bar = std::string(filled, '#') + std::string(kBarCells - filled, '.');
  std::string line = fmt::format("{}  [{}] {:3.0f} %  {} of {}{}", phase, bar, part * 100, count,
                                 short_number(static_cast<double>(total)), speed);
  if (rate > 0 && done < total) line += "  " + clock_time(static_cast<double>(total - done) / rate) + " left";
  return line;
}

void Progress::update(std::string_view phase, std::int64_t done, std::int64_t total) {
  if (style_ == ProgressStyle::off) return;
  const Clock::time_point now = Clock::now();
  const bool new_phase = phase != phase_;
  if (new_phase) {
    clear();
    phase_ = phase;
    phase_start_ = now;
    last_drawn_ = now - kLineEvery;
  }
  const bool lines = style_ == ProgressStyle::lines;
  if (!lines && now - phase_start_ < kQuietStart) return;
  const bool finished = lines && total > 0 && done >= total;
  if (!finished && now - last_drawn_ < (lines ? kLineEvery : kRedraw)) return;
  last_drawn_ = now;
  const std::string line = progress_line(phase, done, total, duration<double>(now - phase_start_).count());
  // "\r" returns to the start of the line, and "\033[K" wipes the rest of a longer line.
  fmt::print(stderr, "{}", lines ? line + "\n" : "\r" + line + "\033[K");
  std::fflush(stderr);
  drawn_ = !lines;
}

void Progress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace stope::cli
