// write_table: the format's writer on top of the atomic, compressing file (stope/io.hpp).
#include "io/write_table_formats.hpp"

namespace stope {
namespace {

void write_as(Format format, const Table& table, const WriteOptions& options, const RunOptions& run,
              const io::ByteSink& sink) {
  const auto dtype = [&](const char* otherwise) { return options.dtype.empty() ? otherwise : options.dtype; };
  switch (format) {
    case Format::arff: return io::write_arff(table, run, sink);
    case Format::npy: return io::write_npy(table, dtype("float64"), run, sink);
    case Format::fvecs:
    case Format::bvecs:
    case Format::ivecs: return io::write_vecs(table, format, run, sink);
    case Format::raw: return io::write_raw(table, dtype("float32"), run, sink);
    case Format::tsv: return io::write_csv(table, '\t', run, sink);
    case Format::csv:
    case Format::automatic: break;  // no suffix says otherwise, e.g. standard output
  }
  io::write_csv(table, options.separator, run, sink);
}

}  // namespace

void write_table(OutputFile& file, const Table& table, const WriteOptions& options, const RunOptions& run) {
  table.validate();
  if (table.columns.empty()) {
    throw Error(ErrorCode::unsupported, file.path() + ": a table without columns cannot be written");
  }
  const char separator = options.separator;
  if (separator == '"' || separator == '\n' || separator == '\r' || separator == '\0') {
    throw Error(ErrorCode::invalid_argument, "a quote, a line end or NUL cannot be the separator");
  }
  const Format format = options.format == Format::automatic ? format_of(file.path()) : options.format;
  write_as(format, table, options, run, [&file](std::string_view bytes) { file.write(bytes); });
}

void write_table(const std::string& path, const Table& table, const WriteOptions& options, const RunOptions& run) {
  OutputFile file(path);
  write_table(file, table, options, run);
  file.commit();
}

}  // namespace stope
