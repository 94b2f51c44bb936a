#include "io/csv/near_numbers.hpp"

#include <array>
#include <utility>

#include "io/number.hpp"

namespace stope::io::csv {
namespace {

constexpr std::array<std::pair<unsigned, std::string_view>, 6> kNames = {{
    {kPercent, "numbers with percent signs"},
    {kCurrency, "numbers with signs of a currency"},
    {kCommaThousands, "numbers with commas between thousands"},
    {kPointThousands, "numbers with points between thousands"},
    {kDecimalComma, "numbers with decimal commas"},
    {kOtherDate, "dates that do not begin with the year"},
}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t count_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

std::string_view without_sign(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Groups of three digits behind at least one mark, then perhaps decimals.
bool has_thousands(std::string_view text, char mark, char decimal) {
  text = without_sign(text);
  const std::size_t first = count_digits(text);
  if (first < 1 || first > 3) return false;
  text.remove_prefix(first);
  if (!text.starts_with(mark)) return false;
  while (text.starts_with(mark)) {
    if (count_digits(text.substr(1)) != 3) return false;
    text.remove_prefix(4);
  }
  return text.empty() || (text.starts_with(decimal) && count_digits(text.substr(1)) == text.size() - 1);
}

// A number in any of the usual spellings; it may stand beside a sign.
bool is_spelled_number(std::string_view text) {
  double value = 0;
  const std::string_view digits = without_sign(text);  // empty for a sign alone
  return !digits.empty() && (is_digit(digits.front()) || digits.front() == '.') &&
         (parse_number(text, value) || parse_number(text, value, ',') || has_thousands(text, ',', '.') ||
          has_thousands(text, '.', ','));
}

bool has_currency(std::string_view text) {
  constexpr std::array<std::string_view, 10> kSigns = {"$", "€", "£", "¥", "USD", "EUR", "GBP", "CHF", "JPY", "US$"};
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  for (const std::string_view sign : kSigns) {
    if (text.starts_with(sign) && is_spelled_number(trimmed(text.substr(sign.size())))) return true;
    if (text.ends_with(sign) && is_spelled_number(trimmed(text.substr(0, text.size() - sign.size())))) return true;
  }
  return false;
}

// Day and month in either order, then a year of four digits; a time may follow.
bool is_other_date(std::string_view text) {
  for (int part = 0; part < 2; ++part) {
    const std::size_t n = count_digits(text);
    if (n < 1 || n > 2 || n == text.size()) return false;
    const char mark = text[n];
    if (mark != '/' && mark != '.' && mark != '-') return false;
    text.remove_prefix(n + 1);
  }
  return count_digits(text) == 4 && (text.size() == 4 || text[4] == ' ');
}

}  // namespace

unsigned near_numbers_of(std::string_view text) {
  if (text.empty()) return 0;
  double value = 0;
  if (parse_number(text, value)) {
    return has_thousands(text, '.', ',') ? kAnyNearNumber : kAnyNearNumber & ~static_cast<unsigned>(kPointThousands);
  }
  unsigned ways = 0;
  if (text.ends_with('%') && is_spelled_number(trimmed(text.substr(0, text.size() - 1)))) ways |= kPercent;
  if (has_currency(text)) ways |= kCurrency;
  if (has_thousands(text, ',', '.')) ways |= kCommaThousands;
  if (has_thousands(text, '.', ',')) ways |= kPointThousands;
  if (parse_number(text, value, ',')) ways |= kDecimalComma;
  if (is_other_date(text)) ways |= kOtherDate;
  return ways;
}

std::string_view name_of_near_numbers(unsigned ways) {
  for (const auto& [way, name] : kNames) {
    if ((ways & way) != 0) return name;
  }
  return {};
}

}  // namespace stope::io::csv
