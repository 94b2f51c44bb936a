// Aligned columns for a terminal (cli/report/text_table.hpp).
#include "report/text_table.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "report/session.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kMaxWidth = 28;  // a longer cell would push others off an 80-column terminal

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

std::string cut(const std::string& raw) {
  std::string text = one_line(raw);
  if (width_of(text) <= kMaxWidth) return text;
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (starts_character(text[end]) && ++seen == kMaxWidth - 2) break;
  }
  return text.substr(0, end) + "...";
}

}  // namespace

std::string counted(std::int64_t n, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", n, n == 1 ? one : many.empty() ? one + "s" : many);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string TextTable::text(std::size_t indent) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  std::vector<std::vector<std::string>> rows = rows_;
  const bool cuts = ::isatty(STDOUT_FILENO) != 0;
  for (auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = cuts && i + 1 < row.size() ? cut(row[i]) : one_line(row[i]);  // no column follows the last one
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - width_of(row[i]), ' ');
      if (i > 0) line += "  ";
      line += columns_[i] == Align::right ? gap + row[i] : row[i] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string type_text(ValueType type) {
  return std::string(to_string(type == ValueType::polynominal ? ValueType::nominal : type));
}

std::string value_text(ValueType type, double value) {
  constexpr double kFirstDay = -719'162, kLastDay = 2'932'896;  // years 1 to 9999: ISO dates have four digits
  constexpr double kMostWhole = 1e15;                           // beyond it digits are noise
  constexpr std::int64_t kDaySeconds = 86400;
  if (type == ValueType::date && value >= kFirstDay && value < kLastDay + 1) {
    const std::chrono::seconds seconds(std::llround(value * kDaySeconds));
    const auto days = std::chrono::floor<std::chrono::days>(seconds);
    const std::chrono::year_month_day date{std::chrono::sys_days(days)};
    const std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    const std::int64_t rest = (seconds - days).count();
    return rest == 0 ? text : text + fmt::format("T{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  }
  const bool whole = value == std::floor(value) && std::fabs(value) < kMostWhole;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string format_score(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.4f}", value);
}

std::string format_value(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.5g}", value);
}

}  // namespace stope::cli
