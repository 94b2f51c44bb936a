#include "page/words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "report/session.hpp"
#include "report/text_table.hpp"

namespace stope::cli::page {
namespace {

constexpr const char* kNone = "–";
constexpr const char* kMinus = "−";

struct Letter {
  std::size_t bytes;
  std::size_t width;
};

// Emoji and the letters of East Asia are about twice as wide as others.
Letter letter_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80U) return {1, 1};
  if (first < 0xE0U) return {2, 1};
  if (first < 0xF0U) return {3, first >= 0xE2U && first != 0xEFU ? (first == 0xE2U ? 1U : 2U) : 1U};
  return {4, 2};
}

std::string with_minus(const std::string& text) {
  return text.starts_with('-') ? kMinus + text.substr(1) : text;
}

}  // namespace

std::string grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  for (std::size_t i = text.size(); i > sign + 3;) text.insert(i -= 3, ",");
  return with_minus(text);
}

std::string grouped(std::int64_t n, const std::string& one, const std::string& many) {
  return grouped(n) + " " + (n == 1 ? one : many.empty() ? one + "s" : many);
}

std::string percent(double share) {
  if (std::isnan(share)) return kNone;
  if (share > 0 && share < 0.0005) return "<\u00a00.1\u00a0%";
  if (share < 1 && share >= 0.9995) return ">\u00a099.9\u00a0%";
  if (share == 0 || share == 1) return fmt::format("{:.0f}\u00a0%", 100 * share);
  return fmt::format("{:.1f}\u00a0%", 100 * share);
}

std::string number(double value) {
  if (std::isnan(value)) return kNone;
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  const double size = std::fabs(value);
  if (size >= 10000 && size < 1e9) return grouped(static_cast<std::int64_t>(std::llround(value)));
  return with_minus(fmt::format("{:.4g}", value));
}

std::string value_of_type(ValueType type, double value) {
  if (std::isnan(value) || std::isinf(value) || type == ValueType::real) return number(value);
  if (type == ValueType::integer && std::fabs(value) < 1e15 && value == std::floor(value)) {
    const auto whole = static_cast<std::int64_t>(value);
    return std::abs(whole) < 10000 ? with_minus(std::to_string(whole)) : grouped(whole);  // 1987 may be a year
  }
  return type == ValueType::integer ? number(value) : value_text(type, value);
}

std::string cut_number(ValueType type, double cut) {
  if (type == ValueType::date || !std::isfinite(cut)) return value_of_type(type, cut);
  return with_minus(type == ValueType::integer ? fmt::format("{:.12g}", cut) : fmt::format("{:.6g}", cut));
}

std::string p_value(double p, double least) {
  if (std::isnan(p)) return kNone;
  return p <= least ? fmt::format("≤\u00a0{:.2g}", least) : fmt::format("{:.2g}", p);
}

std::string cut_off(std::string_view text, std::size_t most) {
  std::string line = one_line(text);
  std::size_t width = 0, end = 0;
  for (std::size_t i = 0; i < line.size();) {
    const Letter letter = letter_at(line, i);
    width += letter.width;
    if (width > most) return line.substr(0, end) + "…";
    i += letter.bytes;
    if (width < most) end = i;  // one letter's room stays for the ellipsis
  }
  return line;
}

std::string as_name(std::string_view name) {
  constexpr std::size_t kMost = 60;
  return kNameBegins + cut_off(name, kMost) + kNameEnds;
}

std::string in_quotes(std::string_view name) {
  return "“" + as_name(name) + "”";
}

std::string unbroken(std::string text) {
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 2)) {
    text.replace(at, 1, "\u00a0");
  }
  return text;
}

std::string list_of(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < items.size() ? ", " : " and ") + items[i];
  }
  return text;
}

}  // namespace stope::cli::page
