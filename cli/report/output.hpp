// Data out: a CSV writer over the library's atomic file, and the small pieces every command needs for its output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/io.hpp"
#include "stope/table.hpp"

namespace stope::cli {

/// RFC 4180 with LF: a field is quoted where it holds a comma, a quote, a line break or blanks at its ends (which a
/// reader would trim), or is empty without being missing.
class CsvWriter {
 public:
  explicit CsvWriter(OutputFile& file) : file_(file) {}

  CsvWriter& text(std::string_view value);
  CsvWriter& number(double value);
  CsvWriter& integer(std::int64_t value);
  /// The cell of a column, spelled as in its file where it is nominal; empty if missing.
  CsvWriter& cell(const Column& column, std::int64_t row);
  CsvWriter& empty();
  void end_row();
  /// Hands everything to the file, which the caller commits.
  void flush();

 private:
  void separate();

  OutputFile& file_;
  std::string buffer_;
  bool row_begun_ = false;
};

class Session;

/// Commits the files that are there, together, and notes their paths for the JSON.
void commit_files(Session& session, const std::vector<std::optional<OutputFile>*>& files);

/// Throws where two of these outputs, of which empty ones are none, are one file (the second would replace the first),
/// or both stdout, which may be that of --json.
void require_distinct(const Session& session, const std::vector<std::string>& paths);

/// The path data go to: `path`, or "-" where it is empty.
std::string output_path(const std::string& path);

/// Writes a whole text to `path` ("-" = stdout).
void write_text(const std::string& path, std::string_view text);

}  // namespace stope::cli
