#include "report/record_writer.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include "report/json.hpp"
#include "report/output_format.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;  // one call of the file per 64 KiB has no visible cost

bool needs_quotes(std::string_view value, char separator) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  if (value.empty() || blank(value.front()) || blank(value.back())) return true;
  return value.find_first_of("\"\n\r") != std::string_view::npos || value.find(separator) != std::string_view::npos;
}

std::string json_string(std::string_view value) {
  return Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

RecordWriter::RecordWriter(OutputFile& file, const std::string& format) : file_(file) {
  const std::string word = format_word(format, file.path());
  if (word == "tsv") style_ = Style::tsv;
  if (word == "json") style_ = Style::json;
  if (word == "jsonl") style_ = Style::json_lines;
  if (word == "md") style_ = Style::markdown;
}

void RecordWriter::begin_object() {
  if (style_ == Style::json) buffer_ += rows_ == 0 ? "[\n" : ",\n";
  buffer_ += '{';
}

void RecordWriter::begin_field() {
  if (!objects()) {
    if (field_ > 0) buffer_ += style_ == Style::tsv ? '\t' : ',';
  } else if (has_names_) {
    if (field_ == 0) begin_object();
    if (field_ > 0) buffer_ += ", ";
    buffer_ += names_.at(field_) + ": ";
  }
  ++field_;
}

// An id column may be called as one of the columns that stope adds.
std::string RecordWriter::free_name(std::string_view wanted) {
  std::string name(wanted);
  for (int i = 2; !taken_.insert(name).second; ++i) name = std::string(wanted) + "_" + std::to_string(i);
  return name;
}

RecordWriter& RecordWriter::text(std::string_view value) {
  return has_names_ ? put(value) : put(free_name(value));
}

RecordWriter& RecordWriter::put(std::string_view value) {
  if (style_ == Style::markdown) {
    markdown_.text(value);
    return *this;
  }
  if (objects() && !has_names_) {
    names_.push_back(json_string(value));
    return *this;
  }
  begin_field();
  if (objects()) {
    buffer_ += json_string(value);
    return *this;
  }
  if (!needs_quotes(value, style_ == Style::tsv ? '\t' : ',')) {
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

RecordWriter& RecordWriter::number(double value) {
  if (objects() && !std::isfinite(value)) return empty();
  if (style_ == Style::markdown) {
    std::string digits;
    append_number(digits, value);
    markdown_.number(digits);
    return *this;
  }
  begin_field();
  append_number(buffer_, value);
  return *this;
}

RecordWriter& RecordWriter::integer(std::int64_t value) {
  if (style_ == Style::markdown) {
    markdown_.number(std::to_string(value));
    return *this;
  }
  begin_field();
  char digits[24];
  const auto [end, status] = std::to_chars(digits, digits + sizeof digits, value);
  buffer_.append(digits, end);
  return *this;
}

RecordWriter& RecordWriter::empty() {
  if (style_ == Style::markdown) {
    markdown_.empty();
    return *this;
  }
  begin_field();
  if (objects()) buffer_ += "null";
  return *this;
}

RecordWriter& RecordWriter::cell(const Column& column, std::int64_t row) {
  if (column.missing(row)) return empty();
  if (column.nominal()) return text(column.values[static_cast<std::size_t>(column.codes()[row])]);
  const double value = column.at(row);
  if (column.type == ValueType::date) {
    const auto [at, is_new] = date_units_.try_emplace(&column, DateUnit::none);
    if (is_new) at->second = date_unit(column);
    std::string date;
    if (append_date(date, value, at->second)) return text(date);
  }
  const auto whole = static_cast<std::int64_t>(value >= -0x1p53 && value <= 0x1p53 ? value : 0.0);
  // An id column of whole numbers is written as it was read: 17, not 17.0.
  if (static_cast<double>(whole) == value) return integer(whole);
  return number(value);
}

void RecordWriter::end_row() {
  field_ = 0;
  const bool names = !std::exchange(has_names_, true);
  if (names) taken_.clear();
  if (objects()) {
    if (names) return;
    buffer_ += '}';
    ++rows_;
  }
  if (style_ == Style::markdown) {
    markdown_.end_row(buffer_);
  } else if (style_ != Style::json) {
    buffer_ += '\n';
  }
  if (buffer_.size() >= kBufferBytes) flush();
}

void RecordWriter::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

void RecordWriter::finish() {
  if (style_ == Style::markdown) markdown_.finish(buffer_);
  if (style_ == Style::json) buffer_ += rows_ == 0 ? "[]\n" : "\n]\n";
  flush();
}

void tell_written(const RunOptions& run, std::int64_t row, std::int64_t n_rows) {
  constexpr std::int64_t kRowsPerPoll = 4096;
  if (row % kRowsPerPoll != 0) return;
  run.cancel.check();
  if (run.progress) run.progress("write", row, n_rows);
}

bool is_record_format(std::string_view format) {
  return format == "json" || format == "jsonl" || format == "md";
}

void write_names(RecordWriter& out, const Table& table) {
  for (const Column& column : table.columns) out.text(column.name);
  out.end_row();
}

void write_cells(RecordWriter& out, const Table& table, const RunOptions& run) {
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    tell_written(run, row, table.n_rows);
    for (const Column& column : table.columns) out.cell(column, row);
    out.end_row();
  }
}

void write_result(OutputFile& file, const std::string& format, const Table& table, WriteOptions options,
                  const RunOptions& run) {
  const std::string word = format_word(format, file.path());
  if (!is_record_format(word)) {
    if (!format.empty()) options.format = format_of("." + format);
    write_table(file, table, options, run);
    return;
  }
  RecordWriter out(file, word);
  write_names(out, table);
  write_cells(out, table, run);
  out.finish();
}

}  // namespace stope::cli
