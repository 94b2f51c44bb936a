// read_table: it chooses the reader of an input, and applies the roles to the reader's table. place_of_cell goes the
// other way, from a row and a column to a line.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "io/append_tables.hpp"
#include "io/columnar/read_columnar.hpp"
#include "io/csv/join_parts.hpp"
#include "io/foreign_format.hpp"
#include "io/number.hpp"
#include "io/parts.hpp"
#include "io/readers.hpp"
#include "io/roles.hpp"
#include "io/row_keys.hpp"
#include "io/sample_rows.hpp"
#include "io/sheet.hpp"
#include "stope/io.hpp"
#include "stope/place_of_cell.hpp"
#include "stope/table_files.hpp"
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
  if (io::begins_workbook(text)) return Format::sheet;
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
    case Format::sheet: return io::read_sheet(bytes, options, schema, run);
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

bool is_csv(Format format) {
  return format == Format::csv || format == Format::tsv;
}

// What a reader made of an input, before roles.
struct Source {
  Table table;
  io::Names names = io::Names::given;
  std::int64_t held = 0;  // bytes of memory that the input takes, as far as a limit counts them
};

// The readers of arrays number their columns. CSV took its names from header, options or schema, so they match the
// schema by now.
io::Names names_of(Format format) {
  const bool given = is_csv(format) || format == Format::arff || format == Format::parquet || format == Format::arrow ||
                     format == Format::sheet;
  return given ? io::Names::given : io::Names::positions;
}

Source read_bytes(Format format, const io::Bytes& bytes, ReadOptions& options, Schema* schema, const RunOptions& run) {
  if (!options.sheet.empty() && format != Format::sheet) {
    throw Error(ErrorCode::invalid_argument, "is no workbook, and has no sheet '" + options.sheet + "'",
                {.file = bytes.name, .option = "sheet"});
  }
  const RunningJob running(run);
  const PhaseProgress phase(run, "columns", 0);
  Source source{read_as(format, bytes, options, schema, run), names_of(format)};
  if (source.table.source.empty()) source.table.source = bytes.name;
  source.held = run.memory_limit > 0 ? bytes.held : 0;
  return source;
}

// Columns that the options ignore may not be read at all; then the options and the schema lose them.
Source read_file(const std::string& path, ReadOptions& options, Schema* schema, const RunOptions& run) {
  io::Input input(path, run);
  const Format named = options.format != Format::automatic ? options.format : format_of(path);
  if ((named == Format::automatic || named == Format::arrow) && io::begins_arrow_stream(input.head())) {
    const RunningJob running(run);
    const PhaseProgress phase(run, "columns", 0);
    const auto read = [&input](char* to, std::int64_t size) { return input.read(to, size); };
    Source source{io::read_arrow_stream(read, input.name(), options, schema, run)};
    if (source.table.source.empty()) source.table.source = input.name();
    return source;
  }
  const io::Bytes bytes = input.load();
  const Format format = format_for(path, options, bytes.view);
  if (is_csv(format)) {
    io::refuse_foreign(bytes.view, bytes.name,
                       options.format == Format::automatic ? io::Foreign::any : io::Foreign::with_magic_number);
  }
  return read_bytes(format, bytes, options, schema, run);
}

// The format of all parts. Suffixes tell it, or the content of the first part where they say nothing.
Format format_of_parts(const std::vector<std::string>& parts, const ReadOptions& options, const RunOptions& run) {
  if (options.format != Format::automatic) return options.format;
  const Format first = format_of(parts.front());
  for (const std::string& part : parts) {
    if (format_of(part) == first) continue;
    throw Error(ErrorCode::invalid_data,
                "is not of the format of '" + parts.front() + "': a pattern such as '*.csv' names files of one format",
                {.file = part, .option = "format"});
  }
  return first == Format::automatic ? format_by_content(io::load_bytes(parts.front(), run).view) : first;
}

Source read_parts(const std::string& path, const std::vector<std::string>& parts, ReadOptions& options, Schema* schema,
                  const RunOptions& run) {
  const Format format = format_of_parts(parts, options, run);
  if (is_csv(format)) {
    ReadOptions csv = options;
    csv.format = options.format == Format::automatic ? format_of(parts.front()) : format;
    io::csv::JoinedParts joined = io::csv::join_parts(parts, path, csv, run);
    return read_bytes(format, joined.bytes, joined.options, schema, run);
  }
  Source source;
  std::vector<Table> tables;
  const ReadOptions all = options;  // the reader of each part takes out what is ignored
  const Schema all_columns = schema == nullptr ? Schema() : *schema;
  tables.reserve(parts.size());
  RunOptions rest = run;
  for (const std::string& part : parts) {
    options = all;
    if (schema != nullptr) *schema = all_columns;
    Source one = read_file(part, options, schema, rest);
    source.names = one.names;
    if (run.memory_limit > 0) {
      rest.memory_limit = std::max<std::int64_t>(1, rest.memory_limit - one.table.bytes_in_memory());
    }
    tables.push_back(std::move(one.table));
  }
  const io::MixedTypes mixed = format == Format::sheet ? io::MixedTypes::nominal : io::MixedTypes::error;
  source.table = io::append_tables(std::move(tables), path, mixed, options, run);
  return source;
}

}  // namespace

Table read_table(const std::string& path, const ReadOptions& given, const RunOptions& run) try {
  ReadOptions options = given;
  std::optional<Schema> schema;
  if (!options.schema.empty()) schema = read_schema(options.schema, options.schema_part, run);
  Schema* const declared = schema.has_value() ? &*schema : nullptr;
  const std::vector<std::string> parts = io::parts_of(path);
  Source source =
      parts.empty() ? read_file(path, options, declared, run) : read_parts(path, parts, options, declared, run);
  Table table = std::move(source.table);
  io::apply_roles(table, options, declared, source.names, run,
                  run.memory_limit > 0 ? source.held + table.bytes_in_memory() : 0);
  if (options.first_names.empty()) io::warn_of_row_keys(table, run);
  table = io::sample_rows(std::move(table), options.sample, options.sample_seed, run);
  if (run.warn && options.first_names.empty()) warn_of_many_classes(table, options, run);
  return table;
} catch (...) {
  rethrow_as_error();
}

namespace {

Format format_of_file(const std::string& path, const ReadOptions& options, const RunOptions& run) {
  return format_for(path, options, io::load_bytes(path, run).view);
}

Place place_in_text(const std::string& path, const std::vector<std::string>& parts, Format format,
                    const ReadOptions& options, std::int64_t row, std::string_view feature, const RunOptions& run) {
  std::optional<Schema> schema;
  if (!options.schema.empty()) schema = read_schema(options.schema, options.schema_part, run);
  ReadOptions csv = options;
  csv.format = format;
  io::csv::JoinedParts text;
  if (parts.empty()) {
    text = {io::load_bytes(path, run), csv};
  } else {
    text = io::csv::join_parts(parts, path, csv, run);
  }
  return io::place_in_csv(text.bytes, text.options, schema.has_value() ? &*schema : nullptr, row, feature, run);
}

Place place_in_arff_parts(const std::vector<std::string>& parts, const ReadOptions& options, std::int64_t row,
                          std::string_view feature, const RunOptions& run) {
  for (const std::string& part : parts) {
    const io::Bytes bytes = io::load_bytes(part, run);
    const Place found = io::place_in_arff(bytes, options, row, feature, run);
    if (found.line > 0) return found;
    if (parts.size() > 1) row -= io::read_arff(bytes, options, silent(run)).n_rows;
  }
  return {};
}

}  // namespace

std::vector<std::string> files_of(const std::string& path) try { return io::parts_of(path); } catch (...) {
  rethrow_as_error();
}

Place place_of_cell(const std::string& path, const ReadOptions& options, std::int64_t row, std::string_view feature,
                    const RunOptions& run) try {
  Place place{.file = path, .feature = std::string(feature), .row = row};
  if (row < 0 || options.sample > 0) return place;  // a sampled row was another row of the file
  const std::vector<std::string> parts = io::parts_of(path);
  if (parts.empty() && !std::filesystem::is_regular_file(path)) return place;
  const Format format = parts.empty() ? format_of_file(path, options, run) : format_of_parts(parts, options, run);
  Place found;
  if (is_csv(format)) {
    found = place_in_text(path, parts, format, options, row, feature, run);
  } else if (format == Format::sheet && parts.empty()) {
    std::optional<Schema> schema;
    if (!options.schema.empty()) schema = read_schema(options.schema, options.schema_part, run);
    found = io::place_in_sheet(io::load_bytes(path, run), options, schema.has_value() ? &*schema : nullptr, row,
                               feature, run);
  } else if (format == Format::arff) {
    found = place_in_arff_parts(parts.empty() ? std::vector{path} : parts, options, row, feature, run);
  }
  if (found.line == 0) return place;
  if (!parts.empty()) place.file = found.file;
  place.line = found.line;
  place.column = found.column;
  return place;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
