// Tables as CSV (RFC 4180): quotes where plain text would read back as something else (docs/FORMATS.md).
#include <vector>

#include "base/progress.hpp"
#include "io/number.hpp"
#include "io/write_table_cells.hpp"
#include "io/write_table_formats.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

/// True for text that the reader would take for missing (its default tokens), split or trim, or that would make it
/// guess another separator.
bool needs_quotes(std::string_view text, char separator) {
  if (text.empty() || text == "?" || text == "NA" || text == "NaN") return true;
  if (text.front() == ' ' || text.back() == ' ' || text.starts_with("\xEF\xBB\xBF")) return true;
  for (const char c : text) {
    if (c == separator || c == '"' || c == '\n' || c == '\r' || c == ',' || c == ';' || c == '\t' || c == '|')
      return true;
  }
  return false;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_text(std::string& out, std::string_view text, char separator) {
  if (text.find('\0') != std::string_view::npos) throw Error(ErrorCode::unsupported, "CSV cannot hold a NUL character");
  if (needs_quotes(text, separator)) {
    append_quoted(out, text);
  } else {
    out += text;
  }
}

}  // namespace

void append_csv_header(std::string& out, const Table& table, char separator) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string& name = table.columns[c].name;
    double number = 0;
    if (c > 0) out += separator;
    if (parse_number(name, number)) {
      append_quoted(out, name);
    } else {
      append_text(out, name, separator);
    }
  }
  out += '\n';
}

void write_csv(const Table& table, char separator, const RunOptions& run, const ByteSink& sink, Part part) {
  std::vector<Spelling> spellings;
  spellings.reserve(table.columns.size());
  for (const Column& column : table.columns) spellings.push_back(spelling_of(column));
  std::string out;
  if (part == Part::first) append_csv_header(out, table, separator);
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      if (c > 0) out += separator;
      if (column.missing(row)) {
        // An empty line would be skipped, and two blanks would be one separator.
        if (table.columns.size() == 1 || separator == ' ') out += "\"\"";
      } else if (column.nominal()) {
        append_text(out, value_name(column, row), separator);
      } else {
        append_cell(out, column.at(row), spellings[c]);
      }
    }
    out += '\n';
    if (out.size() >= kChunkBytes) {
      run.cancel.check();
      tell_progress(run, "write", row, table.n_rows);
      sink(out);
      out.clear();
    }
  }
  sink(out);
  tell_progress(run, "write", table.n_rows, table.n_rows);
}

}  // namespace stope::io
