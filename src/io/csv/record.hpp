// The grammar of CSV, one character at a time: what a record and a field are. The fast path (kernels.hpp) must agree
// with it, or hand over to it.
//
// A record ends with LF, CR LF or CR outside quotes, or with the text. A field whose first character after blanks is a
// quote is quoted: it runs to the closing quote, a doubled quote stands for one, and only blanks may follow. In any
// other field a quote is an ordinary character. Blanks (space, tab; never the separator) around a field are not part of
// it. A line that begins with the comment character, where there is one, is no record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stope::io::csv {

struct Dialect {
  char separator = ',';
  char decimal = '.';
  char comment = '\0';    // '\0': there are no comments
  char thousands = '\0';  // '\0': numbers have no marks between groups of digits
};

inline bool is_blank(char c, char separator) {
  return (c == ' ' || c == '\t') && c != separator;
}

/// `field` without the blanks around it.
inline std::string_view trim(std::string_view field, char separator) {
  while (!field.empty() && is_blank(field.front(), separator)) field.remove_prefix(1);
  while (!field.empty() && is_blank(field.back(), separator)) field.remove_suffix(1);
  return field;
}

/// A trimmed field that begins with a quote is quoted.
inline bool is_quoted(std::string_view trimmed) {
  return !trimmed.empty() && trimmed.front() == '"';
}

/// The content of a quoted field: its quotes are dropped, and a doubled quote becomes one.
inline void unquote(std::string_view quoted, std::string& content) {
  content.clear();
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    content += quoted[i];
    if (quoted[i] == '"') ++i;
  }
}

enum class RecordStatus { complete, unterminated_quote, text_after_quote };

struct Record {
  RecordStatus status = RecordStatus::complete;
  std::int64_t next = 0;   ///< where the next record begins
  std::int64_t fault = 0;  ///< unterminated_quote: where it opened; text_after_quote: the first such character
  std::int64_t n_fields = 0;
  bool blank = false;    ///< nothing but blanks
  bool comment = false;  ///< a comment up to the end of its line
};

/// Whether such a line is no record of a table of `n_columns`. An empty line of a table of one column is a missing
/// value.
inline bool is_skipped(const Record& record, std::int64_t n_columns) {
  return record.comment || (record.blank && n_columns > 1);
}

/// Scans the record at `position` < text.size(). Calls sink(begin, end) for each trimmed field, quotes included.
template <class Sink>
Record scan_record(std::string_view text, std::int64_t position, const Dialect& dialect, Sink&& sink) {
  const auto n = static_cast<std::int64_t>(text.size());
  const char* s = text.data();
  const char separator = dialect.separator;
  Record record;
  if (dialect.comment != '\0' && s[position] == dialect.comment) {
    record.comment = true;
    std::int64_t i = position;
    while (i < n && s[i] != '\n' && s[i] != '\r') ++i;
    if (i < n) i += s[i] == '\r' && i + 1 < n && s[i + 1] == '\n' ? 2 : 1;
    record.next = i;
    return record;
  }
  for (std::int64_t i = position;;) {
    while (i < n && is_blank(s[i], separator)) ++i;
    const std::int64_t begin = i;
    std::int64_t end = i;
    if (i < n && s[i] == '"') {
      for (++i;; ++i) {
        if (i >= n) {
          record.status = RecordStatus::unterminated_quote;
          record.fault = begin;
          record.next = n;
          return record;
        }
        if (s[i] != '"') continue;
        if (i + 1 < n && s[i + 1] == '"') {
          ++i;
        } else {
          break;
        }
      }
      end = ++i;
      while (i < n && is_blank(s[i], separator)) ++i;
      if (i < n && s[i] != separator && s[i] != '\n' && s[i] != '\r') {
        record.status = RecordStatus::text_after_quote;
        record.fault = i;
        return record;
      }
    } else {
      while (i < n && s[i] != separator && s[i] != '\n' && s[i] != '\r') ++i;
      end = i;
      while (end > begin && is_blank(s[end - 1], separator)) --end;
    }
    sink(begin, end);
    ++record.n_fields;
    if (i < n && s[i] == separator) {
      ++i;
      continue;
    }
    record.blank = record.n_fields == 1 && begin == end;
    if (i < n) i += s[i] == '\r' && i + 1 < n && s[i + 1] == '\n' ? 2 : 1;
    record.next = i;
    return record;
  }
}

}  // namespace stope::io::csv
