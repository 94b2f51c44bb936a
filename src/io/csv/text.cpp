#include "io/csv/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked.hpp"
#include "base/escape.hpp"
#include "base/memory.hpp"
#include "io/csv/blanks.hpp"

namespace stope::io::csv {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Appends to memory whose size was computed for the worst case.
class Utf8Writer {
 public:
  explicit Utf8Writer(char* to) : to_(to) {}
  void put(std::uint32_t c) {
    if (c < 0x80) {
      byte(c);
    } else if (c < 0x800) {
      byte(0xC0 | c >> 6);
      byte(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      byte(0xE0 | c >> 12);
      byte(0x80 | (c >> 6 & 0x3F));
      byte(0x80 | (c & 0x3F));
    } else {
      byte(0xF0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3F));
      byte(0x80 | (c >> 6 & 0x3F));
      byte(0x80 | (c & 0x3F));
    }
  }
  char* position() const { return to_; }

 private:
  void byte(std::uint32_t value) { *to_++ = static_cast<char>(static_cast<unsigned char>(value)); }
  char* to_;
};

Buffer<char> buffer_within(std::int64_t size, std::int64_t budget, const std::string& name) {
  if (size > budget) {
    refuse_memory("the text as UTF-8 needs up to", size, budget, {name});
  }
  return Buffer<char>(size);
}

void set_view(Text& text, const char* end) {
  text.view = {text.converted.data(), static_cast<std::size_t>(end - text.converted.data())};
}

// What windows-1252 has for the bytes 0x80 to 0x9F, where Latin-1 has control characters; 0 for the five it lacks.
constexpr std::array<std::uint16_t, 32> kWindows1252 = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                        0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                                        0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

// A byte becomes one to three: two for the upper half of Latin-1, three for the quotes and dashes of windows-1252.
void from_bytes(Text& text, std::string_view bytes, Encoding encoding, std::int64_t budget) {
  const auto high = std::count_if(bytes.begin(), bytes.end(), [](char c) { return (c & 0x80) != 0; });
  if (high == 0) {
    text.view = bytes;
    return;
  }
  const bool windows = encoding == Encoding::windows1252;
  const std::int64_t more = checked::mul(high, windows ? 2 : 1);
  text.converted = buffer_within(checked::add(static_cast<std::int64_t>(bytes.size()), more), budget, text.name);
  Utf8Writer writer(text.converted.data());
  std::int64_t left = high;  // a mapped file may have more of them by now, for which there is no room
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint32_t c = byte_at(bytes, i);
    if (c >= 0x80 && left-- == 0) throw Error(ErrorCode::io, "changed while it was read", {text.name});
    if (windows && c >= 0x80 && c < 0xA0) c = kWindows1252[c - 0x80];
    if (c == 0 && bytes[i] != '\0') {
      set_view(text, writer.position());
      std::string byte = "byte 0x";
      append_hex(byte, static_cast<unsigned char>(bytes[i]));
      throw Error(ErrorCode::invalid_data, byte + " is no character of windows-1252",
                  place_of(text, static_cast<std::int64_t>(text.view.size())));
    }
    writer.put(c);
  }
  set_view(text, writer.position());
}

enum class ByteOrder { little, big };

void from_utf16(Text& text, std::string_view bytes, ByteOrder order, std::int64_t budget) {
  // Two bytes of UTF-16 become at most three of UTF-8.
  text.converted = buffer_within(checked::mul(static_cast<std::int64_t>(bytes.size() / 2 + 1), 3), budget, text.name);
  Utf8Writer writer(text.converted.data());
  const auto unit = [&](std::size_t i) {
    const unsigned a = byte_at(bytes, i), b = byte_at(bytes, i + 1);
    return order == ByteOrder::little ? a | b << 8 : a << 8 | b;
  };
  const auto fail = [&](const std::string& what) {
    set_view(text, writer.position());
    throw Error(ErrorCode::invalid_data, what, place_of(text, static_cast<std::int64_t>(text.view.size())));
  };
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    if (i + 1 == bytes.size()) fail("UTF-16 with an odd number of bytes");
    std::uint32_t c = unit(i);
    if (c >= 0xD800 && c < 0xE000) {
      const std::uint32_t low = c < 0xDC00 && i + 3 < bytes.size() ? unit(i + 2) : 0;
      if (low < 0xDC00 || low >= 0xE000) fail("a lone surrogate in UTF-16");
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      i += 2;
    }
    writer.put(c);
  }
  set_view(text, writer.position());
}

// ASCII as UTF-16: every other byte is zero, and no other is.
bool looks_like_utf16(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, std::min<std::size_t>(bytes.size(), 64) / 2 * 2);
  if (start.size() < 4) return false;
  const std::size_t zeros = start[0] == '\0' ? 0 : 1;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if ((start[i] == '\0') != (i % 2 == zeros)) return false;
  }
  return true;
}

void skip_preamble(Text& text, std::int64_t skip_lines) {
  const auto skip_line = [&] {
    const std::size_t end = text.view.find_first_of("\n\r");
    const bool both = end != std::string_view::npos && text.view.substr(end, 2) == "\r\n";
    text.view.remove_prefix(end == std::string_view::npos ? text.view.size() : end + (both ? 2 : 1));
    ++text.first_line;
  };
  for (std::int64_t i = 0; i < skip_lines && !text.view.empty(); ++i) skip_line();
  const std::string_view start = text.view.substr(0, 6);
  const bool named = start.size() == 6 && (start.starts_with("sep=") || start.starts_with("SEP=")) &&
                     (start[5] == '\n' || start[5] == '\r');
  if (!named) return;
  text.separator = start[4];
  skip_line();
}

}  // namespace

Text text_of(const Bytes& bytes, Encoding encoding, std::int64_t budget) {
  Text text{bytes.view, {}, bytes.name};
  const std::string_view view = bytes.view;
  const bool utf8_mark = view.starts_with("\xEF\xBB\xBF");
  const bool little_mark = view.starts_with("\xFF\xFE"), big_mark = view.starts_with("\xFE\xFF");
  if (encoding == Encoding::utf16) {
    if (utf8_mark)
      throw Error(ErrorCode::invalid_data, "begins with the byte order mark of UTF-8, not of UTF-16", {text.name});
    // Without a mark the first character decides: a header or a number begins with ASCII, whose high byte is zero.
    const bool big = big_mark || (!little_mark && view.size() >= 2 && view[0] == '\0' && view[1] != '\0');
    from_utf16(text, view.substr(little_mark || big_mark ? 2 : 0), big ? ByteOrder::big : ByteOrder::little, budget);
  } else if (little_mark || big_mark) {
    // Latin-1 text could begin with these two letters (thorn and y with diaeresis), but no table ever does.
    throw Error(ErrorCode::invalid_data, "is UTF-16 by its byte order mark; read it with the encoding utf-16",
                {.file = text.name, .option = "encoding"});
  } else if (encoding != Encoding::utf8) {
    from_bytes(text, view, encoding, budget);
  } else if (looks_like_utf16(view)) {
    throw Error(ErrorCode::invalid_data,
                "looks like UTF-16 without a byte order mark; read it with the encoding utf-16",
                {.file = text.name, .option = "encoding"});
  } else if (utf8_mark) {
    text.view.remove_prefix(3);
  }
  return text;
}

Text open_text(const Bytes& bytes, const ReadOptions& options, std::int64_t budget) {
  if (bytes.parts != nullptr) {  // join_parts has opened each of them
    return {.view = bytes.view, .converted = {}, .name = bytes.name, .budget = budget, .parts = bytes.parts};
  }
  Text text = text_of(bytes, options.encoding, budget);
  if (options.skip_lines < 0) {
    throw Error(ErrorCode::invalid_argument, "skip_lines is " + std::to_string(options.skip_lines),
                {.option = "skip_lines"});
  }
  skip_preamble(text, options.skip_lines);
  const char separator = options.separator == '\0' ? text.separator : options.separator;
  if (separator == ' ') join_blanks(text, options.comment, budget);
  text.budget = std::max<std::int64_t>(0, budget - text.converted.size());
  return text;
}

Place place_of(const Text& text, std::int64_t offset) {
  Place place{text.name, text.first_line, 1};
  std::string_view before = text.view.substr(0, static_cast<std::size_t>(offset));
  if (text.parts != nullptr && !text.parts->empty()) {
    const auto after = std::upper_bound(text.parts->begin() + 1, text.parts->end(), offset,
                                        [](std::int64_t at, const BytesPart& part) { return at < part.begin; });
    const BytesPart& part = *(after - 1);
    place = {part.name, part.first_line, 1};
    before.remove_prefix(static_cast<std::size_t>(part.begin));
  }
  // Files without CR are counted at memory speed.
  std::size_t line = 0;
  if (before.find('\r') == std::string_view::npos) {
    place.line += std::count(before.begin(), before.end(), '\n');
    line = before.rfind('\n') + 1;  // npos + 1 = 0
  } else {
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool end = before[i] == '\n' || (before[i] == '\r' && text.view.substr(i + 1, 1) != "\n");
      if (!end) continue;
      ++place.line;
      line = i + 1;
    }
  }
  const std::string_view rest = before.substr(line);
  // Continuation bytes do not count as characters.
  place.column += std::count_if(rest.begin(), rest.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return place;
}

std::int64_t find_invalid_utf8(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  const std::size_t n = text.size();
  for (std::size_t i = 0; i < n;) {
    const unsigned c = byte_at(text, i);
    if (c < 0x80) {
      ++i;
      for (std::uint64_t word = 0; i + sizeof word <= n; i += sizeof word) {  // plain text at memory speed
        std::memcpy(&word, text.data() + i, sizeof word);
        if ((word & kHighBits) != 0) break;
      }
      continue;
    }
    // The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
    std::size_t more = 0;
    unsigned lowest = 0x80, highest = 0xBF;
    if (c >= 0xC2 && c <= 0xDF) {
      more = 1;
    } else if (c >= 0xE0 && c <= 0xEF) {
      more = 2;
      if (c == 0xE0) lowest = 0xA0;
      if (c == 0xED) highest = 0x9F;
    } else if (c >= 0xF0 && c <= 0xF4) {
      more = 3;
      if (c == 0xF0) lowest = 0x90;
      if (c == 0xF4) highest = 0x8F;
    } else {
      return static_cast<std::int64_t>(i);
    }
    if (i + more >= n) return static_cast<std::int64_t>(i);
    if (byte_at(text, i + 1) < lowest || byte_at(text, i + 1) > highest) return static_cast<std::int64_t>(i);
    for (std::size_t k = 2; k <= more; ++k) {
      if ((byte_at(text, i + k) & 0xC0) != 0x80) return static_cast<std::int64_t>(i);
    }
    i += more + 1;
  }
  return -1;
}

}  // namespace stope::io::csv
