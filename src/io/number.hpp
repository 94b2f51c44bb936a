// Numbers as text, both ways, locale-free.
#pragma once

#include <string>
#include <string_view>

namespace stope::io {

/// The whole of `text` as a number: decimal or exponent notation, "NaN", "inf", "Infinity" (any case, signed), '+'
/// allowed; a decimal mark other than '.' where given. Correctly rounded. False if any of it is left over.
bool parse_number(std::string_view text, double& value, char decimal = '.');

/// Shortest text that reads back as the same double: 0.1, -0.0, 1e+300, NaN, Infinity, -Infinity; whole numbers as
/// "3.0".
void append_number(std::string& out, double value);

}  // namespace stope::io
