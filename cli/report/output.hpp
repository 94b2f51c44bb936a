// The output of data: a CSV writer over the library's atomic file, and small functions that every command needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/io.hpp"
#include "stope/table.hpp"

namespace stope::cli {

/// Writes RFC 4180 with LF. A field is quoted if it holds a comma, a quote, a line break, or blanks at its ends (which
/// a reader would trim), or if it is empty but not missing.
class CsvWriter {
 public:
  explicit CsvWriter(OutputFile& file) : file_(file) {}

  CsvWriter& text(std::string_view value);
  CsvWriter& number(double value);
  CsvWriter& integer(std::int64_t value);
  /// Writes a cell of a column; empty if it is missing. Nominal values are spelled as in their file.
  CsvWriter& cell(const Column& column, std::int64_t row);
  CsvWriter& empty();
  void end_row();
  /// Hands all that is buffered to the file, which the caller commits.
  void flush();

 private:
  void separate();

  OutputFile& file_;
  std::string buffer_;
  bool row_begun_ = false;
};

class Session;

/// Commits the open files together and notes their paths for the JSON.
void commit_files(Session& session, const std::vector<std::optional<OutputFile>*>& files);

/// Throws if two of these outputs are one file (the second would replace the first) or are both stdout, which --json
/// may use, too. Empty paths are no outputs.
void require_distinct(const Session& session, const std::vector<std::string>& paths);

/// The path to which data go: `path`, or "-" if it is empty.
std::string output_path(const std::string& path);

/// Writes a whole text to `path` ("-" = stdout).
void write_text(const std::string& path, std::string_view text);

}  // namespace stope::cli
