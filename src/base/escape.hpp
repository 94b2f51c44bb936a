// Escapes characters that a format cannot hold as they are.
#pragma once

#include <string>
#include <string_view>

#include "stope/escape.hpp"

namespace stope {

/// Appends two hexadecimal digits, in lower case.
void append_hex(std::string& out, unsigned char byte);

/// A string of JSON, in quotes. Bytes beyond ASCII stay as they are.
std::string json_text(std::string_view text);

}  // namespace stope
