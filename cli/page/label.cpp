#include "page/label.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/session.hpp"

namespace stope::cli::page {
namespace {

struct Letter {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
};

// One code point of a text that is UTF-8, as one_line() makes it.
Letter letter_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = first < 0x80U ? 1 : first < 0xE0U ? 2 : first < 0xF0U ? 3 : 4;
  std::uint32_t code = bytes == 1 ? first : first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes && at + i < text.size(); ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  }
  return {bytes, code};
}

double ascii_width(char c) {
  constexpr std::string_view kNarrow = "iljtfrI.,:;!|'()[]{}/\\ \"-`";
  constexpr std::string_view kWide = "mwMWO@%&<>=+~^#QGDHNU_";
  if (kNarrow.find(c) != std::string_view::npos) return 5.6;
  return kWide.find(c) != std::string_view::npos ? 12.0 : c >= 'A' && c <= 'Z' ? 8.8 : 7.8;
}

double width_of_code(std::uint32_t code) {
  if (code < 0x80U) return ascii_width(static_cast<char>(code));
  if (code == 0x200DU || (code >= 0x300U && code < 0x370U) || (code >= 0xFE00U && code <= 0xFE0FU)) return 0;
  if (code < 0x1100U) return 9;
  if (code >= 0x1F000U) return 17;
  return code >= 0x2E80U ? 13 : 12;
}

}  // namespace

double label_width(std::string_view text) {
  const std::string line = one_line(text);
  double width = 0;
  for (std::size_t i = 0; i < line.size();) {
    const Letter letter = letter_at(line, i);
    width += width_of_code(letter.code);
    i += letter.bytes;
  }
  return width;
}

std::string fitted(std::string_view text, double width) {
  constexpr double kEllipsis = 12;
  std::string line = one_line(text);
  std::vector<Letter> letters;
  double all = 0;
  for (std::size_t i = 0; i < line.size(); i += letters.back().bytes) {
    letters.push_back(letter_at(line, i));
    all += width_of_code(letters.back().code);
  }
  if (all <= width) return line;
  // Names of a family differ at their ends as often as at their beginnings, so the middle gives way.
  double used = kEllipsis;
  std::size_t first = 0, last = letters.size(), front = 0, back = line.size();
  while (first < last) {
    const bool from_front = first <= letters.size() - last + 1;
    const Letter& letter = from_front ? letters[first] : letters[last - 1];
    used += width_of_code(letter.code);
    if (used > width) break;
    if (from_front) {
      ++first;
      front += letter.bytes;
    } else {
      --last;
      back -= letter.bytes;
    }
  }
  return line.substr(0, front) + "…" + line.substr(back);
}

}  // namespace stope::cli::page
