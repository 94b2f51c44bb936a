#include "io/csv/thousands.hpp"

namespace stope::io::csv {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The bytes of the mark at the beginning of `text`, or 0.
std::size_t mark_size(std::string_view text, char mark) {
  if (text.starts_with(mark)) return 1;
  if (mark != ' ') return 0;
  return text.starts_with("\xC2\xA0") ? 2 : text.starts_with("\xE2\x80\xAF") ? 3 : 0;
}

std::size_t take_digits(std::string_view& text, std::string& plain) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  plain += text.substr(0, n);
  text.remove_prefix(n);
  return n;
}

}  // namespace

bool without_thousands(std::string_view text, char mark, char decimal, std::string& plain) {
  plain.clear();
  if (text.starts_with('-') || text.starts_with('+')) {
    plain += text.front();
    text.remove_prefix(1);
  }
  if (text.starts_with('0')) return false;
  const std::size_t first = take_digits(text, plain);
  if (first < 1 || first > 3 || mark_size(text, mark) == 0) return false;
  while (const std::size_t bytes = mark_size(text, mark)) {
    text.remove_prefix(bytes);
    if (take_digits(text, plain) != 3) return false;
  }
  if (!text.empty() && text.front() != decimal && text.front() != 'e' && text.front() != 'E') return false;
  plain += text;
  return true;
}

}  // namespace stope::io::csv
