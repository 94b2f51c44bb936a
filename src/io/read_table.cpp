// read_table: it chooses the reader of an input, and applies the roles to the reader's table. place_of_cell goes the
// other way, from a row and a column to a line.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "io/columnar/read_columnar.hpp"
#include "io/foreign_format.hpp"
#include "io/number.hpp"
#include "io/readers.hpp"
#include "io/roles.hpp"
#include "stope/io.hpp"
#include "stope/place_of_cell.hpp"
#include "stope/warning.hpp"

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

// For standard input and unknown suffixes: NPY, Parquet and Arrow have magic numbers, ARFF begins with comments and
// @relation, anything else is read as CSV.
Format format_by_content(std::string_view text) {
  if (text.starts_with("\x93NUMPY")) return Format::npy;
  // "PAR1,PAR2" is a header, too: text has no NUL byte.
  const bool binary = text.substr(0, 64).find('\0') != std::string_view::npos;
  if (text.starts_with("PAR1") && (binary || text.ends_with("PAR1"))) return Format::parquet;
  if (text.starts_with("PARE") && text.ends_with("PARE")) return Format::parquet;
  if (text.starts_with("ARROW1") && binary) return Format::arrow;
  if (io::begins_arrow_stream(text) || (text.starts_with("FEA1") && text.ends_with("FEA1"))) return Format::arrow;
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

Format format_for(const std::string& path, const ReadOptions& options, std::string_view content) {
  const Format format = options.format != Format::automatic ? options.format : format_of(path);
  return format == Format::automatic ? format_by_content(content) : format;
}

Table read_as(Format format, const io::Bytes& bytes, ReadOptions& options, Schema* schema, const RunOptions& run) {
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
    case Format::parquet:
    case Format::arrow: return io::read_columnar(bytes, format, options, schema, run);
    case Format::sheet:
      throw Error(ErrorCode::unsupported, "is read as a sheet, which this build does not read", {bytes.name});
    case Format::raw: break;
  }
  return io::read_raw(bytes, options, run);
}

// A label of many numbers was most probably measured, and is predicted better by a regression.
void warn_of_many_classes(const Table& table, const ReadOptions& options, const RunOptions& run) {
  constexpr std::size_t kManyClasses = 20;
  const std::int64_t at = options.target_is_nominal ? table.find(Role::label) : -1;
  if (at < 0) return;
  const Column& label = table.columns[static_cast<std::size_t>(at)];
  double value = 0;
  const bool numbers = std::all_of(label.values.begin(), label.values.end(),
                                   [&](const std::string& name) { return io::parse_number(name, value); });
  if (label.values.size() <= kManyClasses || !numbers) return;
  run.warn(warning::kManyClasses, "the label '" + label.name + "' has " + std::to_string(label.values.size()) +
                                      " classes, all of them numbers: a regression predicts numbers");
}

}  // namespace

Table read_table(const std::string& path, const ReadOptions& given, const RunOptions& run) try {
  ReadOptions options = given;
  std::optional<Schema> schema;
  if (!options.schema.empty()) schema = read_schema(options.schema, options.schema_part, run);
  Schema* const declared = schema.has_value() ? &*schema : nullptr;
  io::Input input(path, run);
  const Format named = options.format != Format::automatic ? options.format : format_of(path);
  const bool streamed = (named == Format::automatic || named == Format::arrow) && io::begins_arrow_stream(input.head());
  io::Bytes bytes;
  if (!streamed) bytes = input.load();
  const Format format = streamed ? Format::arrow : format_for(path, options, bytes.view);
  if (format == Format::csv || format == Format::tsv) {
    io::refuse_foreign(bytes.view, bytes.name,
                       options.format == Format::automatic ? io::Foreign::any : io::Foreign::with_magic_number);
  }
  const RunningJob running(run);
  const PhaseProgress phase(run, "columns", 0);
  Table table;
  if (streamed) {
    const auto read = [&input](char* to, std::int64_t size) { return input.read(to, size); };
    table = io::read_arrow_stream(read, input.name(), options, declared, run);
  } else {
    table = read_as(format, bytes, options, declared, run);
  }
  if (table.source.empty()) table.source = input.name();
  // The CSV reader took its names from header, options or schema, so they match the schema by now.
  const bool has_names = format == Format::csv || format == Format::tsv || format == Format::arff ||
                         format == Format::parquet || format == Format::arrow;
  io::apply_roles(table, options, declared, has_names ? io::Names::given : io::Names::positions, run,
                  run.memory_limit > 0 ? bytes.held + table.bytes_in_memory() : 0);
  if (run.warn && options.first_names.empty()) warn_of_many_classes(table, options, run);
  return table;
} catch (...) {
  rethrow_as_error();
}

Place place_of_cell(const std::string& path, const ReadOptions& options, std::int64_t row, std::string_view feature,
                    const RunOptions& run) try {
  Place place{.file = path, .feature = std::string(feature), .row = row};
  if (row < 0 || !std::filesystem::is_regular_file(path)) return place;
  std::optional<Schema> schema;
  if (!options.schema.empty()) schema = read_schema(options.schema, options.schema_part, run);
  const io::Bytes bytes = io::load_bytes(path, run);
  const Format format = format_for(path, options, bytes.view);
  ReadOptions csv = options;
  csv.format = format;
  Place found;
  if (format == Format::arff) found = io::place_in_arff(bytes, options, row, feature, run);
  if (format == Format::csv || format == Format::tsv) {
    found = io::place_in_csv(bytes, csv, schema.has_value() ? &*schema : nullptr, row, feature, run);
  }
  place.line = found.line;
  place.column = found.column;
  return place;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
