// Numbers to text and back, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace stope::io {

/// Reads the whole of `text` as a number, correctly rounded: decimal or exponent notation, "NaN", "inf", "Infinity"
/// (any case, signed), with an optional '+'. `decimal` is the decimal mark. False if any text is left over.
bool parse_number(std::string_view text, double& value, char decimal = '.');

/// Appends the shortest text that reads back as the same double: 0.1, -0.0, 1e+300, NaN, Infinity, -Infinity; whole
/// numbers as "3.0".
void append_number(std::string& out, double value);

/// Whether `text` is a whole number, written in digits alone, that a double would not give back: beyond 2^53 in
/// magnitude (9007199254740993), or with a leading zero (01234).
bool loses_digits(std::string_view text);

/// Whether a number that was read as `value` is so far from it that a person would see it: beyond the range of double,
/// or with more than the 17 significant digits that a double can need. `text` may be quoted.
bool is_rounded_off(std::string_view text, double value);

}  // namespace stope::io
