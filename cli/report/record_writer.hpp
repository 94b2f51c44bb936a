// Rows with named fields as CSV, TSV, JSON, JSON lines or Markdown, over the library's atomic file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "report/markdown_table.hpp"
#include "stope/io.hpp"
#include "stope/row_text.hpp"
#include "stope/table.hpp"

namespace stope::cli {

/// `format` says how rows are written, or else the suffix of the file's name; CSV where neither does. The first row
/// holds the names. A name that stands there already gets an _2, or the next number that is free.
///
/// CSV and TSV: RFC 4180 with LF. A field is quoted if it holds the separator, a quote, a line break, or blanks at its
/// ends (which a reader would trim), or if it is empty but not missing. JSON: an array of objects. JSON lines: an
/// object per line. There, missing values and numbers that are not finite are null. Markdown: one table, with empty
/// cells for missing values.
class RecordWriter {
 public:
  explicit RecordWriter(OutputFile& file, const std::string& format = {});

  RecordWriter& text(std::string_view value);
  RecordWriter& number(double value);
  RecordWriter& integer(std::int64_t value);
  /// Writes a cell of a column; empty if it is missing. Nominal values are spelled as in their file, dates as ISO text
  /// where that loses nothing.
  RecordWriter& cell(const Column& column, std::int64_t row);
  RecordWriter& empty();
  void end_row();
  /// Writes the last bytes. The caller commits the file.
  void finish();

 private:
  enum class Style { csv, tsv, json, json_lines, markdown };

  std::string free_name(std::string_view wanted);
  RecordWriter& put(std::string_view value);
  bool objects() const { return style_ == Style::json || style_ == Style::json_lines; }
  void begin_field();
  void begin_object();
  void flush();

  OutputFile& file_;
  Style style_ = Style::csv;
  std::vector<std::string> names_;                          // of objects, as JSON
  std::unordered_set<std::string> taken_;                   // names so far, of the first row
  std::unordered_map<const Column*, DateUnit> date_units_;  // of the columns of dates so far
  bool has_names_ = false;
  MarkdownTable markdown_;
  std::string buffer_;
  std::size_t field_ = 0;  // of the row that has begun
  std::int64_t rows_ = 0;  // objects
};

/// Between the rows of a long loop: tells the phase "write", and stops once the run is cancelled.
void tell_written(const RunOptions& run, std::int64_t row, std::int64_t n_rows);

/// True for the formats that RecordWriter writes and the library does not.
bool is_record_format(std::string_view format);

/// Writes the names of a table's columns as the first row.
void write_names(RecordWriter& out, const Table& table);
/// Writes all rows of a table.
void write_cells(RecordWriter& out, const Table& table, const RunOptions& run);

/// Writes a whole table in a format, or in that of the file's suffix if `format` is empty. JSON is written as records,
/// the other formats by write_table().
void write_result(OutputFile& file, const std::string& format, const Table& table, WriteOptions options,
                  const RunOptions& run);

}  // namespace stope::cli
