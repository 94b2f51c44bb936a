// ISO dates (io/arff_date.hpp) on top of the calendar of <chrono>.
#include "io/arff_date.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace stope::io {
namespace {

constexpr std::int64_t kDaySeconds = 86400;

bool digits(std::string_view text, std::size_t at, std::size_t count, int& value) {
  value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  return true;
}

// Rounds once, alike for reading and writing: seconds since 1970 are an exact double.
double days_of(std::int64_t seconds) {
  return static_cast<double>(seconds) / static_cast<double>(kDaySeconds);
}

}  // namespace

bool parse_date_format(std::string_view pattern, DateFormat& format) {
  if (pattern == "yyyy-MM-dd") {
    format = DateFormat::date;
  } else if (pattern == "yyyy-MM-dd'T'HH:mm:ss") {
    format = DateFormat::date_time;
  } else if (pattern == "yyyy-MM-dd HH:mm:ss") {
    format = DateFormat::date_blank;
  } else {
    return false;
  }
  return true;
}

bool parse_date(std::string_view text, DateFormat format, double& days) {
  const bool has_time = format != DateFormat::date;
  if (text.size() != (has_time ? 19U : 10U)) return false;
  int year = 0;
  int month = 0;
  int day = 0;
  if (!digits(text, 0, 4, year) || !digits(text, 5, 2, month) || !digits(text, 8, 2, day)) return false;
  if (text[4] != '-' || text[7] != '-') return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return false;
  std::int64_t seconds = std::chrono::sys_days(date).time_since_epoch().count() * kDaySeconds;
  if (has_time) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!digits(text, 11, 2, hour) || !digits(text, 14, 2, minute) || !digits(text, 17, 2, second)) return false;
    if (text[10] != (format == DateFormat::date_time ? 'T' : ' ') || text[13] != ':' || text[16] != ':') return false;
    if (hour > 23 || minute > 59 || second > 59) return false;
    seconds += (hour * 60 + minute) * 60 + second;
  }
  days = days_of(seconds);
  return true;
}

bool append_date(std::string& out, DateFormat format, double days) {
  // Four digits hold the years 0 to 9999.
  constexpr double kFirstDay = -719528;
  constexpr double kLastDay = 2932897;
  if (!(days >= kFirstDay && days < kLastDay) || (days == 0 && std::signbit(days))) return false;
  const auto seconds = static_cast<std::int64_t>(std::llround(days * static_cast<double>(kDaySeconds)));
  const std::int64_t whole_days =
      seconds / kDaySeconds - (seconds % kDaySeconds < 0 ? 1 : 0);  // towards the past, also before 1970
  const std::int64_t of_day = seconds - whole_days * kDaySeconds;
  if (days_of(seconds) != days || (format == DateFormat::date && of_day != 0)) return false;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(whole_days))};
  const int year = static_cast<int>(date.year());
  if (year < 0 || year > 9999) return false;
  char text[64];
  int length = std::snprintf(text, sizeof text, "%04d-%02u-%02u", year, static_cast<unsigned>(date.month()),
                             static_cast<unsigned>(date.day()));
  if (format != DateFormat::date) {
    length += std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length), "T%02d:%02d:%02d",
                            static_cast<int>(of_day / 3600), static_cast<int>(of_day / 60 % 60),
                            static_cast<int>(of_day % 60));
  }
  out.append(text, static_cast<std::size_t>(length));
  return true;
}

}  // namespace stope::io
