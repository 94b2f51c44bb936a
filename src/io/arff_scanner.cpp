// Lines and words of ARFF (io/arff_scanner.hpp). The rules are those of WEKA's reader, which is built on Java's
// StreamTokenizer, except where WEKA would drop text silently (docs/FORMATS.md lists the differences).
#include "io/arff_scanner.hpp"

#include <algorithm>

#include "base/progress.hpp"

namespace stope::io {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

constexpr bool ends_word(char c) {
  return is_blank(c) || c == ',' || c == '{' || c == '}' || c == '\'' || c == '"';
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string result = "'";
  for (const char c : text.substr(0, kShown)) result += c >= '\0' && c < ' ' ? '?' : c;
  return result + (text.size() > kShown ? "...'" : "'");
}

Place ArffScanner::place(std::int64_t column) const {
  std::int64_t characters = column > 0 ? 1 : 0;
  for (const char c : line_.substr(0, static_cast<std::size_t>(column > 0 ? column - 1 : 0))) {
    if ((c & 0xC0) != 0x80) ++characters;  // continuation bytes of UTF-8 are no characters of their own
  }
  return {name_, line_number_, characters};
}

void ArffScanner::fail(const std::string& message, std::int64_t column, ErrorCode code) const {
  throw Error(code, message, place(column));
}

bool ArffScanner::take_line() {
  if (next_ >= text_.size()) return false;
  if (!newline_known_ || (newline_ != std::string_view::npos && newline_ < next_)) {
    newline_ = text_.find('\n', next_);
    newline_known_ = true;
  }
  const std::size_t end = newline_ == std::string_view::npos ? text_.size() : newline_;
  line_ = text_.substr(next_, end - next_);
  const std::size_t carriage = line_.find('\r');
  if (carriage == std::string_view::npos) {
    next_ = end + 1;
  } else {  // "\r\n", or the lone '\r' of old files
    const bool crlf = carriage + 1 == line_.size() && newline_ != std::string_view::npos;
    next_ += carriage + (crlf ? 2 : 1);
    line_ = line_.substr(0, carriage);
  }
  at_ = 0;
  ++line_number_;
  return true;
}

bool ArffScanner::next_line() {
  while (take_line()) {
    if (peek() != kLineEnd) return true;
  }
  return false;
}

std::vector<ArffBlock> ArffScanner::blocks(std::int64_t n_lines, const CancelToken& cancel) const {
  constexpr std::int64_t kPollLines = 65536;
  ArffScanner copy(*this);
  std::vector<ArffBlock> blocks;
  std::int64_t count = 0;
  for (;;) {
    ArffBlock block{copy.next_, copy.line_number_, count};
    while (block.n_rows < n_lines && copy.next_line()) {
      ++block.n_rows;
      block.sparse = block.sparse || copy.peek() == '{';
      if (++count % kPollLines == 0) poll_step(cancel);
    }
    if (block.n_rows == 0) return blocks;
    block.bytes = static_cast<std::int64_t>(std::min(copy.next_, text_.size()) - block.begin);
    blocks.push_back(block);
  }
}

void ArffScanner::go_to(const ArffBlock& block) {
  next_ = block.begin;
  line_number_ = block.line;
  newline_known_ = false;
}

int ArffScanner::peek() {
  while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  if (at_ >= line_.size() || line_[at_] == '%') return kLineEnd;
  return static_cast<unsigned char>(line_[at_]);
}

bool ArffScanner::separator() {
  const std::size_t before = at_;
  if (peek() == ',') {
    skip();
    peek();
  }
  return at_ > before;
}

ArffWord ArffScanner::word() {
  const int first = peek();
  if (first == '\'' || first == '"') return quoted_word();
  const std::size_t begin = at_;
  if (first != kLineEnd) {
    while (at_ < line_.size() && !ends_word(line_[at_])) ++at_;
  }
  if (at_ == begin) fail("expected a value");
  // In it's or 5" tall, nobody can tell where the quote is meant to end.
  if (at_ < line_.size() && (line_[at_] == '\'' || line_[at_] == '"')) {
    fail("a quote inside the unquoted value " + shown(line_.substr(begin, at_ - begin)) + " (quote the whole value)");
  }
  return {line_.substr(begin, at_ - begin), static_cast<std::int64_t>(begin) + 1};
}

ArffWord ArffScanner::quoted_word() {
  const char quote = line_[at_];
  const std::int64_t start = column();
  const std::size_t begin = at_ + 1;
  std::size_t i = begin;
  while (i < line_.size() && line_[i] != quote && line_[i] != '\\') ++i;
  const bool plain = i < line_.size() && line_[i] == quote;
  if (!plain) {
    scratch_.assign(line_.substr(begin, i - begin));
    while (i < line_.size() && line_[i] != quote) {
      if (line_[i] == '\\' && i + 1 < line_.size()) {
        unescape(i);
      } else {
        scratch_ += line_[i++];
      }
    }
  }
  if (i >= line_.size()) fail("unterminated quote", start);
  at_ = i + 1;
  if (at_ < line_.size() && !is_blank(line_[at_]) && line_[at_] != ',' && line_[at_] != '}' && line_[at_] != '{') {
    fail("text directly after a closing quote (a quote inside a value is written \\" + std::string(1, quote) + ")");
  }
  return {plain ? line_.substr(begin, i - begin) : std::string_view(scratch_), start, true, !plain};
}

/// One escape of a quoted value: the letters and octal numbers of Java's StreamTokenizer; any other character stands
/// for itself.
void ArffScanner::unescape(std::size_t& i) {
  char c = line_[++i];
  ++i;
  switch (c) {
    case 'a': c = '\a'; break;
    case 'b': c = '\b'; break;
    case 'f': c = '\f'; break;
    case 'n': c = '\n'; break;
    case 'r': c = '\r'; break;
    case 't': c = '\t'; break;
    case 'v': c = '\v'; break;
    default: break;
  }
  if (c < '0' || c > '7') {
    scratch_ += c;
    return;
  }
  int value = c - '0';
  const int max_digits = c <= '3' ? 3 : 2;
  for (int n = 1; n < max_digits && i < line_.size() && line_[i] >= '0' && line_[i] <= '7'; ++n) {
    value = value * 8 + (line_[i++] - '0');
  }
  // The number is a character, U+0000 to U+00FF, not a byte: from 128 on it takes two bytes of UTF-8.
  if (value >= 0x80) scratch_ += static_cast<char>(0xC0 | value >> 6);
  scratch_ += static_cast<char>(value >= 0x80 ? 0x80 | (value & 0x3F) : value);
}

std::string ArffScanner::keyword() {
  peek();
  std::string word;
  while (at_ < line_.size() && !ends_word(line_[at_]) && line_[at_] != '[') {
    const char c = line_[at_++];
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

bool ArffScanner::accept(std::string_view keyword) {
  peek();
  const std::string_view rest = line_.substr(at_);
  if (rest.size() < keyword.size()) return false;
  for (std::size_t i = 0; i < keyword.size(); ++i) {
    const char c = rest[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != keyword[i]) return false;
  }
  const bool ends = rest.size() == keyword.size() || ends_word(rest[keyword.size()]) || rest[keyword.size()] == '[';
  if (ends) at_ += keyword.size();
  return ends;
}

void ArffScanner::expect_line_end(std::string_view after) {
  if (peek() != kLineEnd) fail("unexpected text after " + std::string(after));
}

}  // namespace stope::io
