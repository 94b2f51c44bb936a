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

}  // namespace

unsigned readings_of(std::string_view field, const FieldRules& rules) {
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
