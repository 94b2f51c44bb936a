// Numbers, sizes and lists as words (stope/words.hpp).
#include "stope/words.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/guarded.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, std::string(option) + ": '" + std::string(text) + "' " + std::string(why),
              {.option = std::string(option)});
}

// from_chars knows no plus. "+-5" stays, and is no number.
void remove_plus(std::string_view& digits) {
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
}

template <class T>
T parse_whole(std::string_view text, std::string_view option, std::string_view why) {
  std::string_view digits = text;
  remove_plus(digits);
  T value{};
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc::result_out_of_range) refuse(option, text, "is too large");
  if (status != std::errc() || end != digits.data() + digits.size()) refuse(option, text, why);
  return value;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

double unit_of(std::string_view suffix, std::string_view text, std::string_view option) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1.0},   {"B", 1.0},  {"K", 1e3},   {"KB", 1e3},     {"M", 1e6},      {"MB", 1e6},     {"G", 1e9},
      {"GB", 1e9}, {"T", 1e12}, {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  for (const auto& [name, factor] : kUnits) {
    if (same_letters(name, suffix)) return factor;
  }
  refuse(option, text, "is not a size such as 2GB, 512MB or 1.5GiB");
}

}  // namespace

std::int64_t parse_integer(std::string_view text, std::string_view option) try {
  return parse_whole<std::int64_t>(text, option, "is not a whole number");
} catch (...) {
  rethrow_as_error();
}

std::uint64_t parse_seed(std::string_view text, std::string_view option) try {
  return parse_whole<std::uint64_t>(text, option, "is not a whole number from 0 to 18446744073709551615");
} catch (...) {
  rethrow_as_error();
}

double parse_real(std::string_view text, std::string_view option) try {
  std::string_view digits = text;
  remove_plus(digits);
  double value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    refuse(option, text, "is not a finite number");
  }
  return value;
} catch (...) {
  rethrow_as_error();
}

std::int64_t parse_bytes(std::string_view text, std::string_view option) try {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (status != std::errc()) refuse(option, text, "is not a size such as 2GB, 512MB or 1.5GiB");
  std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  const double bytes = value * unit_of(suffix, text, option);
  if (!(bytes >= 1.0)) refuse(option, text, "is less than one byte");
  if (bytes >= 0x1p63) refuse(option, text, "is too large");
  return static_cast<std::int64_t>(bytes);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::string> split_list(std::string_view text, std::string_view option) try {
  std::vector<std::string> items(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      items.back() += text[++i];
    } else if (c == '"' && (quoted || items.back().empty())) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  if (quoted) refuse(option, text, "has a quote that is not closed");
  return items;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
