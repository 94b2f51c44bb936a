#include "io/csv/readings.hpp"

namespace stope::io::csv {
namespace {

bool equals_ignoring_case(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != word[i]) return false;
  }
  return true;
}

// Whether `field` is [-]digits[.digits], which every number reader takes: most fields of a head are, and a value that
// nobody asks for need not be computed.
bool is_plain_decimal(std::string_view field, char decimal) {
  const std::size_t begin = field.front() == '-' ? 1 : 0;
  std::size_t n_digits = 0, n_points = 0;
  for (std::size_t i = begin; i < field.size(); ++i) {
    const bool digit = field[i] >= '0' && field[i] <= '9';
    n_digits += digit ? 1 : 0;
    n_points += field[i] == decimal ? 1 : 0;
  }
  return n_digits > 0 && n_points <= 1 && n_digits + n_points == field.size() - begin;
}

}  // namespace

unsigned readings_of(std::string_view field, const FieldRules& rules) {
  const bool word = !field.empty() && begins_word(field.front());
  if (word && !rules.token_starts.test(static_cast<unsigned char>(field.front()))) return kText;
  if (!field.empty() && !rules.numeric_tokens && !rules.commas && is_plain_decimal(field, rules.dialect.decimal)) {
    return kText | kNumbers;
  }
  double value = 0;
  const Meaning meaning = rules.number(field, rules.dialect.decimal, value);
  if (meaning == Meaning::missing) return kAnyReading;
  unsigned readings = kText;
  if (meaning == Meaning::number) readings |= kNumbers;
  if (rules.commas && rules.number(field, ',', value) == Meaning::number) readings |= kCommaNumbers;
  IsoDate date;
  if (readings == kText && rules.date(field, date) == Meaning::number) readings |= kDates;
  return readings;
}

bool is_truth_value(std::string_view field) {
  if (is_quoted(field)) field = field.substr(1, field.size() - 2);
  return equals_ignoring_case(field, "true") || equals_ignoring_case(field, "false");
}

}  // namespace stope::io::csv
