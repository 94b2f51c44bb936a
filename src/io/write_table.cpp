// write_table: it chooses the writer of the format; the file is atomic and compresses (stope/io.hpp).
#include <string>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "io/columnar/write_columnar.hpp"
#include "io/write_table_formats.hpp"

namespace stope {
namespace {

void check_separator(char separator) {
  if (separator == '"' || separator == '\n' || separator == '\r' || separator == '\0') {
    throw Error(ErrorCode::invalid_argument, "a quote, a line end or NUL cannot be the separator",
                {.option = "separator"});
  }
}

void check_columns(const OutputFile& file, const Table& table) {
  table.validate();
  if (!table.columns.empty()) return;
  throw Error(ErrorCode::unsupported, "a table without columns cannot be written", {file.path()});
}

Format format_for(const OutputFile& file, const WriteOptions& options) {
  return options.format == Format::automatic ? format_of(file.path()) : options.format;
}

std::int64_t bytes_of(const std::string& dtype) {
  return dtype == "uint8" ? 1 : dtype.ends_with("64") ? 8 : 4;
}

// The bytes that the table takes: exactly for numbers as they lie in memory, at least for text, where an empty field
// and its separator are one byte.
std::int64_t least_bytes(Format format, const std::string& dtype, std::int64_t n_rows, std::size_t n_columns) {
  constexpr std::int64_t kLength = 4;  // in front of a row of fvecs and its kin
  const auto columns = static_cast<std::int64_t>(n_columns);
  std::int64_t row = columns;
  if (format == Format::npy || format == Format::raw) row = checked::mul(columns, bytes_of(dtype));
  if (format == Format::fvecs || format == Format::ivecs) row = checked::mul(columns + 1, kLength);
  if (format == Format::bvecs) row = columns + kLength;
  return checked::mul(n_rows, row);
}

std::string dtype_or(const WriteOptions& options, const char* otherwise) {
  return options.dtype.empty() ? otherwise : options.dtype;
}

void write_as(Format format, const Table& table, const WriteOptions& options, const RunOptions& run,
              const std::string& path, const io::ByteSink& sink, io::Part part) {
  switch (format) {
    case Format::arff: return io::write_arff(table, run, sink, part);
    case Format::npy: return io::write_npy(table, dtype_or(options, "float64"), run, sink);
    case Format::fvecs:
    case Format::bvecs:
    case Format::ivecs: return io::write_vecs(table, format, run, sink);
    case Format::raw: return io::write_raw(table, dtype_or(options, "float32"), run, sink);
    case Format::parquet:
    case Format::arrow: return io::write_columnar(format, table, path, sink, run);
    case Format::sheet: throw Error(ErrorCode::unsupported, "sheets are read, not written", {path});
    case Format::tsv: return io::write_csv(table, '\t', run, sink, part);
    case Format::csv:
    case Format::automatic: break;  // no suffix says otherwise, e.g. standard output
  }
  io::write_csv(table, options.separator, run, sink, part);
}

}  // namespace

void write_table(OutputFile& file, const Table& table, const WriteOptions& options, const RunOptions& run) try {
  const RunningJob running(run);
  check_columns(file, table);
  check_separator(options.separator);
  const Format format = format_for(file, options);
  const std::string dtype = dtype_or(options, format == Format::npy ? "float64" : "float32");
  // Parquet may take next to nothing: it names a value that repeats once.
  if (!io::is_columnar(format)) file.require_space(least_bytes(format, dtype, table.n_rows, table.columns.size()));
  try {
    const io::ByteSink sink = [&file](std::string_view bytes) { file.write(bytes); };
    write_as(format, table, options, run, file.path(), sink, io::Part::first);
  } catch (const Error& error) {
    // A cell or column that the format cannot hold: where it came from helps more than where it should go.
    if (error.code() != ErrorCode::unsupported || !error.file().empty()) throw;
    Place place = error.place();
    place.file = place.feature.empty() || table.source.empty() ? file.path() : table.source;
    throw Error(error.code(), error.message(), place);
  }
} catch (...) {
  rethrow_as_error();
}

TablePartsWriter::TablePartsWriter(OutputFile& file, std::int64_t n_rows, const WriteOptions& options) try
    : file_(file), options_(options), n_rows_(n_rows) {
  check_separator(options.separator);
  options_.format = format_for(file, options);
} catch (...) {
  rethrow_as_error();
}

TablePartsWriter::~TablePartsWriter() = default;

void TablePartsWriter::append(const Table& part, const RunOptions& run) try {
  const RunningJob running(run);
  check_columns(file_, part);
  if (part.n_rows > n_rows_ - written_) {
    throw Error(ErrorCode::invalid_argument, "more rows than the " + std::to_string(n_rows_) + " that were announced",
                {file_.path()});
  }
  if (!begun_ && !io::is_columnar(options_.format)) {
    const std::string dtype = dtype_or(options_, options_.format == Format::npy ? "float64" : "float32");
    file_.require_space(least_bytes(options_.format, dtype, n_rows_, part.columns.size()));
  }
  const io::ByteSink sink = [this](std::string_view bytes) { file_.write(bytes); };
  Format format = options_.format;
  if (io::is_columnar(format)) {
    if (columnar_ == nullptr) {
      columnar_ = std::make_unique<io::ColumnarParts>(format, part, file_.path(), sink, run);
    }
    columnar_->append(part, run);
    begun_ = true;
    written_ += part.n_rows;
    tell_progress(run, "write", written_, n_rows_);
    return;
  }
  if (format == Format::npy) {  // only the NPY header holds the number of rows
    options_.dtype = dtype_or(options_, "float64");
    if (!begun_) sink(npy_header(options_.dtype, n_rows_, static_cast<std::int64_t>(part.columns.size())));
    format = Format::raw;
  }
  const RunOptions quiet = silent(run);
  write_as(format, part, options_, quiet, file_.path(), sink, begun_ ? io::Part::later : io::Part::first);
  begun_ = true;
  written_ += part.n_rows;
  tell_progress(run, "write", written_, n_rows_);
} catch (...) {
  rethrow_as_error();
}

void TablePartsWriter::finish() const try {
  if (written_ == n_rows_ && begun_) {
    if (columnar_ != nullptr) columnar_->finish();
    return;
  }
  throw Error(ErrorCode::invalid_argument,
              std::to_string(written_) + " rows were written of " + std::to_string(n_rows_), {file_.path()});
} catch (...) {
  rethrow_as_error();
}

void write_table(const std::string& path, const Table& table, const WriteOptions& options, const RunOptions& run) try {
  OutputFile file(path, run.cancel);
  write_table(file, table, options, run);
  file.commit();
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
