// The output of data (cli/report/output.hpp).
#include "report/output.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <system_error>

#include "report/session.hpp"
#include "stope/error.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;  // one call of the file per 64 KiB has no visible cost

bool needs_quotes(std::string_view value) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  if (value.empty() || blank(value.front()) || blank(value.back())) return true;
  return value.find_first_of(",\"\n\r") != std::string_view::npos;
}

}  // namespace

void CsvWriter::separate() {
  if (row_begun_) buffer_ += ',';
  row_begun_ = true;
}

CsvWriter& CsvWriter::text(std::string_view value) {
  separate();
  if (!needs_quotes(value)) {
    buffer_ += value;
    return *this;
  }
  buffer_ += '"';
  for (const char c : value) {
    if (c == '"') buffer_ += '"';
    buffer_ += c;
  }
  buffer_ += '"';
  return *this;
}

CsvWriter& CsvWriter::number(double value) {
  separate();
  append_number(buffer_, value);
  return *this;
}

CsvWriter& CsvWriter::integer(std::int64_t value) {
  separate();
  char digits[24];
  const auto [end, status] = std::to_chars(digits, digits + sizeof digits, value);
  buffer_.append(digits, end);
  return *this;
}

CsvWriter& CsvWriter::empty() {
  separate();
  return *this;
}

CsvWriter& CsvWriter::cell(const Column& column, std::int64_t row) {
  if (column.missing(row)) return empty();
  if (column.nominal()) return text(column.values[static_cast<std::size_t>(column.codes()[row])]);
  const double value = column.at(row);
  const auto whole = static_cast<std::int64_t>(value >= -0x1p53 && value <= 0x1p53 ? value : 0.0);
  // An id column of whole numbers is written as it was read: 17, not 17.0.
  if (static_cast<double>(whole) == value) return integer(whole);
  return number(value);
}

void CsvWriter::end_row() {
  buffer_ += '\n';
  row_begun_ = false;
  if (buffer_.size() >= kBufferBytes) flush();
}

void CsvWriter::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

void commit_files(Session& session, const std::vector<std::optional<OutputFile>*>& files) {
  std::vector<OutputFile*> there;
  for (std::optional<OutputFile>* file : files) {
    if (*file) there.push_back(&**file);
  }
  if (there.empty()) return;
  session.timed("write", [&] { OutputFile::commit_all(there); });
  for (const OutputFile* file : there) session.note_output(file->path());
}

void require_distinct(const Session& session, const std::vector<std::string>& paths) {
  const bool json = session.arguments().json;
  if (std::count(paths.begin(), paths.end(), "-") > (json ? 0 : 1)) {
    throw Error(ErrorCode::invalid_argument, std::string("'-': only one output can go to stdout") +
                                                 (json ? ", the object of --json" : "; give the others files"));
  }
  std::set<std::filesystem::path> seen;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const bool regular = !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
    if (path.empty() || path == "-" || !regular) continue;  // /dev/null takes everything
    const std::filesystem::path whole =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
    if (!seen.insert(whole.empty() ? std::filesystem::path(path) : whole).second) {
      throw Error(ErrorCode::invalid_argument, "'" + path + "' is named for two outputs: give each a file of its own");
    }
  }
}

std::string output_path(const std::string& path) {
  return path.empty() ? "-" : path;
}

void write_text(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace stope::cli
