#include "io/iso_date.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>

#include "io/number.hpp"

namespace stope::io {
namespace {

constexpr int kDaySeconds = 86400;
constexpr double kDayMicroseconds = 86400e6;

// Reads exactly `n_digits` digits at `at` and moves `at` behind them; -1 if they are not there.
int digits(std::string_view text, std::size_t& at, std::size_t n_digits) {
  int value = 0;
  for (std::size_t i = 0; i < n_digits; ++i, ++at) {
    if (at >= text.size() || text[at] < '0' || text[at] > '9') return -1;
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool accept(std::string_view text, std::size_t& at, char c) {
  if (at >= text.size() || text[at] != c) return false;
  ++at;
  return true;
}

struct TimeOfDay {
  double seconds = 0;
  std::int64_t microseconds = 0;  // of the day, without the offset
  std::size_t n_decimals = 0;     // the last of them is not zero
  int offset = 0;                 // seconds
};

// Z, +hh:mm, +hhmm or +hh up to the end.
bool parse_offset(std::string_view text, std::size_t at, TimeOfDay& time) {
  if (at == text.size()) return true;
  if (accept(text, at, 'Z')) return at == text.size();
  const bool west = text[at] == '-';
  if (!accept(text, at, '+') && !accept(text, at, '-')) return false;
  const int hours = digits(text, at, 2);
  int minutes = 0;
  if (hours >= 0 && at < text.size()) {
    accept(text, at, ':');
    minutes = digits(text, at, 2);
  }
  if (at != text.size() || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
  time.offset = (hours * 60 + minutes) * (west ? -60 : 60);
  return true;
}

// hh:mm[:ss[.decimals]][offset] from `at` to the end.
bool parse_time(std::string_view text, std::size_t at, TimeOfDay& time) {
  const int hour = digits(text, at, 2);
  if (!accept(text, at, ':')) return false;
  const int minute = digits(text, at, 2);
  double second = 0;
  if (accept(text, at, ':')) {
    const std::size_t begin = at;
    const int whole = digits(text, at, 2);
    if (whole < 0) return false;
    time.microseconds = whole * std::int64_t{1000000};
    if (accept(text, at, '.')) {
      std::int64_t unit = 100000;
      for (std::size_t n = 1; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++n, unit /= 10) {
        if (text[at] != '0') time.n_decimals = n;
        time.microseconds += unit * (text[at] - '0');
      }
    }
    if (!parse_number(text.substr(begin, at - begin), second)) return false;
  }
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second >= 60) return false;
  time.seconds = (hour * 60 + minute) * 60 + second;
  time.microseconds += (hour * 60 + minute) * std::int64_t{60000000};
  return parse_offset(text, at, time);
}

}  // namespace

std::optional<IsoDate> parse_iso_date(std::string_view text) {
  std::size_t at = 0;
  const int year = digits(text, at, 4);
  if (!accept(text, at, '-')) return std::nullopt;
  const int month = digits(text, at, 2);
  if (!accept(text, at, '-')) return std::nullopt;
  const int day = digits(text, at, 2);
  if (year < 0 || month < 0 || day < 0) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const auto days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  IsoDate result{days};
  if (at == text.size()) return result;
  if (!accept(text, at, 'T') && !accept(text, at, ' ')) return std::nullopt;
  TimeOfDay time;
  if (!parse_time(text, at, time)) return std::nullopt;
  // One rounding where the seconds are whole, as in ARFF (arff_date.hpp).
  result.days = (days * kDaySeconds + (time.seconds - time.offset)) / kDaySeconds;
  result.offset = time.offset != 0;
  if (time.n_decimals > 6) {
    result.exact = false;
    return result;
  }
  std::int64_t unit = 1000000;  // of the last decimal, in microseconds
  for (std::size_t i = 0; i < time.n_decimals; ++i) unit /= 10;
  const double microseconds = (result.days - days) * kDayMicroseconds + time.offset * 1e6;
  result.exact = std::llround(microseconds / static_cast<double>(unit)) == time.microseconds / unit;
  return result;
}

}  // namespace stope::io
