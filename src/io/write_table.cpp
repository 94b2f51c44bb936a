// write_table: it chooses the writer of the format; the file is atomic and compresses (stope/io.hpp).
#include <string>

#include "io/write_table_formats.hpp"

namespace stope {
namespace {

void check_separator(char separator) {
  if (separator == '"' || separator == '\n' || separator == '\r' || separator == '\0') {
    throw Error(ErrorCode::invalid_argument, "a quote, a line end or NUL cannot be the separator");
  }
}

void check_columns(const OutputFile& file, const Table& table) {
  table.validate();
  if (!table.columns.empty()) return;
  throw Error(ErrorCode::unsupported, file.path() + ": a table without columns cannot be written");
}

Format format_for(const OutputFile& file, const WriteOptions& options) {
  return options.format == Format::automatic ? format_of(file.path()) : options.format;
}

std::string dtype_or(const WriteOptions& options, const char* otherwise) {
  return options.dtype.empty() ? otherwise : options.dtype;
}

void write_as(Format format, const Table& table, const WriteOptions& options, const RunOptions& run,
              const io::ByteSink& sink, io::Part part) {
  switch (format) {
    case Format::arff: return io::write_arff(table, run, sink, part);
    case Format::npy: return io::write_npy(table, dtype_or(options, "float64"), run, sink);
    case Format::fvecs:
    case Format::bvecs:
    case Format::ivecs: return io::write_vecs(table, format, run, sink);
    case Format::raw: return io::write_raw(table, dtype_or(options, "float32"), run, sink);
    case Format::tsv: return io::write_csv(table, '\t', run, sink, part);
    case Format::csv:
    case Format::automatic: break;  // no suffix says otherwise, e.g. standard output
  }
  io::write_csv(table, options.separator, run, sink, part);
}

}  // namespace

void write_table(OutputFile& file, const Table& table, const WriteOptions& options, const RunOptions& run) {
  check_columns(file, table);
  check_separator(options.separator);
  write_as(
      format_for(file, options), table, options, run, [&file](std::string_view bytes) { file.write(bytes); },
      io::Part::first);
}

TablePartsWriter::TablePartsWriter(OutputFile& file, std::int64_t n_rows, const WriteOptions& options)
    : file_(file), options_(options), n_rows_(n_rows) {
  check_separator(options.separator);
  options_.format = format_for(file, options);
}

void TablePartsWriter::append(const Table& part, const RunOptions& run) {
  check_columns(file_, part);
  if (part.n_rows > n_rows_ - written_) {
    throw Error(ErrorCode::invalid_argument,
                file_.path() + ": more rows than the " + std::to_string(n_rows_) + " that were announced");
  }
  const io::ByteSink sink = [this](std::string_view bytes) { file_.write(bytes); };
  Format format = options_.format;
  if (format == Format::npy) {  // only the NPY header holds the number of rows
    options_.dtype = dtype_or(options_, "float64");
    if (!begun_) sink(npy_header(options_.dtype, n_rows_, static_cast<std::int64_t>(part.columns.size())));
    format = Format::raw;
  }
  RunOptions quiet = run;  // progress would begin anew with every part
  quiet.progress = {};
  write_as(format, part, options_, quiet, sink, begun_ ? io::Part::later : io::Part::first);
  begun_ = true;
  written_ += part.n_rows;
}

void TablePartsWriter::finish() const {
  if (written_ == n_rows_ && begun_) return;
  throw Error(ErrorCode::invalid_argument,
              file_.path() + ": " + std::to_string(written_) + " rows were written of " + std::to_string(n_rows_));
}

void write_table(const std::string& path, const Table& table, const WriteOptions& options, const RunOptions& run) {
  OutputFile file(path);
  write_table(file, table, options, run);
  file.commit();
}

}  // namespace stope
