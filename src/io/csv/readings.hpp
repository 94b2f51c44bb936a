// How a column may be read: as numbers, dates or text. The first reading in this order that takes every field wins.
#pragma once

#include <string_view>

#include "io/csv/fields.hpp"

namespace stope::io::csv {

/// Bits, so that a set of readings is one number. Numbers come with the file's decimal mark, or with a comma where the
/// file says nothing of decimal marks and its separator is ';'.
enum Reading : unsigned { kNumbers = 1, kCommaNumbers = 2, kDates = 4, kText = 8 };
inline constexpr unsigned kAnyReading = kNumbers | kCommaNumbers | kDates | kText;

/// Whether a text that begins with `c` is neither a number nor a date, whatever follows. Of letters, those of "nan" and
/// "inf" begin numbers.
constexpr bool begins_word(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' && lower != 'n' && lower != 'i';
}

/// The readings that take `field`, which is trimmed; all of them where it is missing.
unsigned readings_of(std::string_view field, const FieldRules& rules);

/// true or false, in any case, quoted or not.
bool is_truth_value(std::string_view field);

}  // namespace stope::io::csv
