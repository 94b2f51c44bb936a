// Numbers to text and back (io/number.hpp): std::from_chars and std::to_chars, plus the spellings that they do not
// know.
#include "io/number.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

namespace stope::io {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool equals_ignoring_case(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != word[i]) return false;
  }
  return true;
}

// Rounds a well-formed unsigned decimal beyond the range of double. from_chars only says "out of range". The sign of
// the leading digit's decimal exponent tells overflow from underflow: they are 600 powers of ten apart.
double out_of_range_value(std::string_view text) {
  std::int64_t exponent = 0;  // decimal exponent of the leading nonzero digit
  bool point = false, leading = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || text[i] == '.'); ++i) {
    if (text[i] == '.') {
      point = true;
    } else if (leading) {
      exponent += point ? 0 : 1;
    } else if (text[i] != '0') {
      leading = true;
      exponent -= point ? 1 : 0;
    } else {
      exponent -= point ? 1 : 0;
    }
  }
  if (i < text.size()) {
    ++i;  // 'e'
    const bool negative = text[i] == '-';
    i += negative || text[i] == '+' ? 1 : 0;
    std::int64_t written = 0;
    for (; i < text.size(); ++i) written = written < (std::int64_t{1} << 50) ? written * 10 + (text[i] - '0') : written;
    exponent += negative ? -written : written;
  }
  return exponent > 0 ? kInfinity : 0.0;
}

bool parse_unsigned(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return false;
  if (error == std::errc::result_out_of_range) {
    value = out_of_range_value(text);
    return true;
  }
  return error == std::errc();
}

}  // namespace

bool parse_number(std::string_view text, double& value, char decimal) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return false;
  double magnitude = 0;
  if (is_digit(text[0]) || text[0] == decimal) {
    if (decimal == '.') {
      if (!parse_unsigned(text, magnitude)) return false;
    } else {
      std::string pointed(text);
      for (char& c : pointed) {
        if (c == '.') return false;
        if (c == decimal) c = '.';
      }
      if (!parse_unsigned(pointed, magnitude)) return false;
    }
  } else if (equals_ignoring_case(text, "nan")) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (equals_ignoring_case(text, "inf") || equals_ignoring_case(text, "infinity")) {
    magnitude = kInfinity;
  } else {
    return false;
  }
  value = negative ? -magnitude : magnitude;
  return true;
}

bool loses_digits(std::string_view text) {
  constexpr std::string_view kLargest = "9007199254740992";  // 2^53
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const bool zero = text.size() > 1 && text[0] == '0';
  if (!zero && text.size() < kLargest.size()) return false;
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return zero || text.size() > kLargest.size() || text > kLargest;
}

bool is_rounded_off(std::string_view text, double value) {
  constexpr std::size_t kDigits = 17;
  if (text.size() <= kDigits && std::isfinite(value) && value != 0) return false;
  std::size_t n_digits = 0, zeros = 0;  // significant ones, and zeros that may be behind the last of them
  bool any = false;
  for (const char c : text) {
    if (c == 'e' || c == 'E') break;
    if (!is_digit(c)) continue;
    any = true;
    if (c != '0') n_digits += std::exchange(zeros, 0) + 1;
    if (c == '0' && n_digits > 0) ++zeros;
  }
  if (std::isinf(value)) return any;
  return value == 0 ? n_digits > 0 : n_digits > kDigits;
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  // Python's repr changes to exponents at the same bounds. Between them the fixed form has at most 24 characters.
  const double magnitude = std::fabs(value);
  const bool fixed = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  char text[64];
  const auto result =
      std::to_chars(text, text + sizeof text, value, fixed ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view written(text, static_cast<std::size_t>(result.ptr - text));
  out += written;
  if (fixed && written.find('.') == std::string_view::npos) out += ".0";
}

}  // namespace stope::io
