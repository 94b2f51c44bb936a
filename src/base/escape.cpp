#include "base/escape.hpp"

#include "base/guarded.hpp"

namespace stope {
namespace {

// The length of the UTF-8 sequence at the start of `text`, and its code point; length 0 where there is none.
struct CodePoint {
  std::size_t length = 0;
  char32_t value = 0;
};

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {1, byte(0)};
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return {};
  char32_t value = byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  const bool shortest = length == 2 || value >= (length == 3 ? 0x800U : 0x10000U);
  if (!shortest || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {length, value};
}

bool is_plain(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c <= 0x9F)) return false;      // C0, DEL, C1
  if (c == 0x61C || c == 0x200E || c == 0x200F) return false;  // marks of direction
  if (c >= 0x2028 && c <= 0x202E) return false;                // separators, embeddings, overrides
  return !(c >= 0x2066 && c <= 0x2069);                        // isolates
}

}  // namespace

void append_hex(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

std::string escape_controls(std::string_view text) try {
  std::string out;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const std::string_view bytes = text.substr(0, c.length > 0 ? c.length : 1);
    text.remove_prefix(bytes.size());
    if (c.length > 0 && is_plain(c.value)) {
      out += bytes;
      continue;
    }
    for (const char byte : bytes) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(byte));
    }
  }
  return out;
} catch (...) {
  rethrow_as_error();
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      append_hex(out, byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace stope
