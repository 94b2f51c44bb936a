// The words of an ARFF file: lines, blanks, comments, quoted and unquoted values, with their places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/error.hpp"
#include "stope/run.hpp"

namespace stope::io {

/// A value as it stands in the file. `text` is valid until the next value is read.
struct ArffWord {
  std::string_view text;    ///< without quotes, escapes resolved
  std::int64_t column = 0;  ///< position of its first byte, counted from 1
  bool quoted = false;      ///< a quoted '?' is a value, a bare one is missing
  bool escaped = false;     ///< `text` is not in the file as it is
};

/// Consecutive lines that are neither blank nor only a comment.
struct ArffBlock {
  std::size_t begin = 0;  ///< in the text
  std::int64_t line = 0;  ///< how many lines of any kind come before it
  std::int64_t first_row = 0, n_rows = 0;
  std::int64_t bytes = 0;
  bool sparse = false;  ///< some line begins with a brace: its row may leave values out
};

/// Walks over the lines of a text that are not empty. A quote ends at the latest with its line, so that lines can be
/// counted without looking at quotes.
class ArffScanner {
 public:
  ArffScanner(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  /// Moves to the next line that is neither blank nor only a comment; false at the end.
  bool next_line();
  /// The lines of that kind that are left, `n_lines` in a block, without moving. Polls.
  std::vector<ArffBlock> blocks(std::int64_t n_lines, const CancelToken& cancel) const;
  /// Moves before the first line of a block.
  void go_to(const ArffBlock& block);
  /// The current line, without its end.
  std::string_view text() const { return line_; }
  /// The number of bytes before the end of the current line.
  std::int64_t position() const { return static_cast<std::int64_t>(next_); }

  /// The next character of the line that is no blank, or kLineEnd where nothing but a comment is left. A '%' begins a
  /// comment at the line's start and after a blank, a separator or a bracket, never inside a word.
  int peek();
  static constexpr int kLineEnd = -1;

  /// Consumes the character peek() returned.
  void skip() { ++at_; }
  /// Consumes blanks and at most one comma; true if there was any.
  bool separator();
  /// Reads a quoted or unquoted value.
  ArffWord word();
  /// Reads up to the next blank, quote or bracket, in lower case: "@attribute".
  std::string keyword();
  /// Reads that keyword, which is in lower case, if it is the next one; false, and nothing is read, if it is not.
  bool accept(std::string_view keyword);
  /// Consumes a line that holds nothing more; throws otherwise.
  void expect_line_end(std::string_view after);

  /// The column at which peek() looks.
  std::int64_t column() const { return static_cast<std::int64_t>(at_) + 1; }
  std::int64_t line() const { return line_number_; }
  /// The place of a column of the line. `column` counts bytes; the place counts characters.
  Place place(std::int64_t column) const;
  /// Throws with place(column).
  [[noreturn]] void fail(const std::string& message, std::int64_t column,
                         ErrorCode code = ErrorCode::invalid_data) const;
  [[noreturn]] void fail(const std::string& message) { fail(message, column()); }

 private:
  bool take_line();
  ArffWord quoted_word();
  void unescape(std::size_t& i);

  std::string_view text_;
  const std::string& name_;
  std::string_view line_;  // without its end
  std::size_t next_ = 0;   // where the next line begins
  std::size_t at_ = 0;     // within line_
  std::size_t newline_ =
      0;  // the first '\n' at or after next_, npos if there is none; kept, so that it is not searched for on every line
  bool newline_known_ = false;
  std::int64_t line_number_ = 0;
  std::string scratch_;  // a value whose escapes are resolved
};

/// `text` in quotes for a message: at most 40 bytes, control characters as '?'.
std::string shown(std::string_view text);

}  // namespace stope::io
