// Patterns and ISO dates (io/arff_date.hpp) on top of the calendar of <chrono>.
#include "io/arff_date.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "io/iso_date.hpp"

namespace stope::io {
namespace {

constexpr std::int64_t kDaySeconds = 86400;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Rounds once, alike for reading and writing: seconds since 1970 are an exact double.
double days_of(std::int64_t seconds) {
  return static_cast<double>(seconds) / static_cast<double>(kDaySeconds);
}

// With the decimals of a second. The text is read again: it must give the same number.
bool append_fraction(std::string& out, int decimals, double days) {
  const std::int64_t unit = decimals == 3 ? 1000 : 1000000;
  auto whole = static_cast<std::int64_t>(std::floor(days));
  std::int64_t parts = std::llround((days - static_cast<double>(whole)) * static_cast<double>(kDaySeconds * unit));
  if (parts == kDaySeconds * unit) {
    parts = 0;
    ++whole;
  }
  const std::size_t size = out.size();
  if (!append_date(out, DateFormat::date_time, days_of(whole * kDaySeconds + parts / unit))) return false;
  char text[32];
  std::snprintf(text, sizeof text, ".%0*lld", decimals, static_cast<long long>(parts % unit));
  out += text;
  const std::optional<IsoDate> back = parse_iso_date(std::string_view(out).substr(size));
  if (back.has_value() && back->days == days) return true;
  out.resize(size);
  return false;
}

}  // namespace

std::optional<DatePattern> DatePattern::parse(std::string_view pattern) {
  DatePattern result;
  result.text_ = pattern;
  bool quoted = false;
  for (std::size_t i = 0; i < pattern.size();) {
    const char c = pattern[i];
    if (c == '\'') {
      if (pattern.substr(i, 2) == "''") {
        result.items_.push_back({'\0', c, 0, 0});
        i += 2;
        continue;
      }
      quoted = !quoted;
      ++i;
      continue;
    }
    std::size_t n = 1;
    if (quoted || !is_letter(c)) {
      result.items_.push_back({'\0', c, 0, 0});
    } else {
      while (i + n < pattern.size() && pattern[i + n] == c) ++n;
      const bool known = c == 'y'   ? n == 4
                         : c == 'S' ? n == 3
                                    : std::string_view("MdHms").find(c) != std::string_view::npos && n <= 2;
      if (!known) return std::nullopt;
      result.items_.push_back({c, '\0', n, n == 1 ? 2 : n});
    }
    i += n;
  }
  if (quoted || result.items_.empty()) return std::nullopt;
  return result;
}

bool DatePattern::read(std::string_view text, double& days) const {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, millis = 0;
  std::size_t at = 0;
  for (const Item& item : items_) {
    if (item.letter == '\0') {
      if (at >= text.size() || text[at] != item.character) return false;
      ++at;
      continue;
    }
    int value = 0;
    std::size_t n = 0;
    for (; n < item.most && at < text.size() && text[at] >= '0' && text[at] <= '9'; ++n)
      value = value * 10 + (text[at++] - '0');
    if (n < item.least) return false;
    switch (item.letter) {
      case 'y': year = value; break;
      case 'M': month = value; break;
      case 'd': day = value; break;
      case 'H': hour = value; break;
      case 'm': minute = value; break;
      case 's': second = value; break;
      default: millis = value; break;
    }
  }
  if (at != text.size() || hour > 23 || minute > 59 || second > 59) return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return false;
  // The same operations as for ISO text, so that the same time is the same number.
  const double seconds = (hour * 60 + minute) * 60 + (second * 1000 + millis) / 1000.0;
  const auto whole = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  days = (whole * static_cast<double>(kDaySeconds) + seconds) / static_cast<double>(kDaySeconds);
  return true;
}

bool append_date(std::string& out, DateFormat format, double days) {
  // Four digits hold the years 0 to 9999.
  constexpr double kFirstDay = -719528;
  constexpr double kLastDay = 2932897;
  if (!(days >= kFirstDay && days < kLastDay) || (days == 0 && std::signbit(days))) return false;
  if (format == DateFormat::date_millis) return append_fraction(out, 3, days);
  if (format == DateFormat::date_micros) return append_fraction(out, 6, days);
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
