// Spellings of numbers and dates that no reading takes: 10%, $5, 1,500, 0,5, 31/12/2024. A column of them is text, and
// its owner should know.
#pragma once

#include <string_view>

namespace stope::io::csv {

/// Bits, since 1,500 may be spelled with a mark between thousands or with a decimal comma.
enum NearNumber : unsigned {
  kPercent = 1,
  kCurrency = 2,
  kCommaThousands = 4,
  kPointThousands = 8,
  kDecimalComma = 16,
  kOtherDate = 32,
};
inline constexpr unsigned kAnyNearNumber = 63;

/// The ways in which `text` can be read; all of them for a plain number, which fits in with any.
unsigned near_numbers_of(std::string_view text);

/// What a column is whose values have these ways in common: "numbers with percent signs". The first way counts.
std::string_view name_of_near_numbers(unsigned ways);

}  // namespace stope::io::csv
