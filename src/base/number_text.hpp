// A double in a message: the shortest text that reads back as the same. std::to_string would print 1e-9 as 0.000000.
#pragma once

#include <charconv>
#include <string>

namespace stope {

inline std::string number_text(double value) {
  char buffer[32];  // the longest shortest text, "-2.2250738585072014e-308", has 24 characters
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

}  // namespace stope
