// read_table: it chooses the reader of an input, and applies the roles to the reader's table.
#include <optional>

#include "io/readers.hpp"
#include "io/roles.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

bool starts_with_ignoring_case(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != word[i]) return false;
  }
  return true;
}

// For standard input and unknown suffixes: NPY has a magic number, ARFF begins with comments and @relation, anything
// else is read as CSV.
Format format_by_content(std::string_view text) {
  if (text.starts_with("\x93NUMPY")) return Format::npy;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const char c = text.front();
    if (c == '%') {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      text.remove_prefix(1);
    } else {
      return starts_with_ignoring_case(text, "@relation") ? Format::arff : Format::csv;
    }
  }
  return Format::csv;
}

Table read_as(Format format, const io::Bytes& bytes, const ReadOptions& options, const Schema* schema,
              const RunOptions& run) {
  switch (format) {
    case Format::automatic:
    case Format::csv:
    case Format::tsv: {
      ReadOptions csv = options;
      csv.format = format;
      return io::read_csv(bytes, csv, schema, run);
    }
    case Format::arff: return io::read_arff(bytes, options, run);
    case Format::npy: return io::read_npy(bytes, run);
    case Format::fvecs:
    case Format::bvecs:
    case Format::ivecs: return io::read_vecs(bytes, format, run);
    case Format::raw: break;
  }
  return io::read_raw(bytes, options, run);
}

}  // namespace

Table read_table(const std::string& path, const ReadOptions& options, const RunOptions& run) {
  std::optional<Schema> schema;
  if (!options.schema.empty()) schema = read_schema(options.schema, options.schema_part);
  const io::Bytes bytes = io::load_bytes(path, run);
  Format format = options.format != Format::automatic ? options.format : format_of(path);
  if (format == Format::automatic) format = format_by_content(bytes.view);
  const Schema* declared = schema.has_value() ? &*schema : nullptr;
  Table table = read_as(format, bytes, options, declared, run);
  if (table.source.empty()) table.source = bytes.name;
  // The CSV reader took its names from header, options or schema, so they match the schema by now.
  const bool named = format == Format::csv || format == Format::tsv || format == Format::arff;
  io::apply_roles(table, options, declared, named ? io::Names::given : io::Names::positions);
  return table;
}

}  // namespace stope
