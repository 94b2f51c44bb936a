// Aligned columns for a terminal (cli/report/text_table.hpp).
#include "report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  for (auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = i + 1 < row.size() ? cut(row[i]) : one_line(row[i]);  // no column follows the last one
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

std::string format_score(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.4f}", value);
}

std::string format_value(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.5g}", value);
}

}  // namespace stope::cli
