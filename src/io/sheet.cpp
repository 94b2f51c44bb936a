#include "io/sheet.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "base/guarded.hpp"
#include "io/arrow/owned.hpp"
#include "io/csv/record.hpp"
#include "io/files_plugin.hpp"
#include "io/readers.hpp"
#include "stope/arrow.hpp"
#include "stope/table_files.hpp"

namespace stope::io {
namespace {

constexpr std::int64_t kTextShare = 3;  // the text exists twice for a moment, and the table follows

// The one field of the one row that the plug-in gives.
Bytes text_in(arrow::Owned<ArrowArray> batch, const std::string& name) {
  const ArrowArray* const column = batch && batch->n_children == 1 ? batch->children[0] : nullptr;
  if (column == nullptr || column->n_buffers != 3 || column->length != 1) {
    throw Error(ErrorCode::internal, "the plug-in for files gives no text of a sheet", {name});
  }
  const auto* const offsets = static_cast<const std::int64_t*>(column->buffers[1]) + column->offset;
  const auto size = static_cast<std::size_t>(offsets[1] - offsets[0]);
  const char* const text = static_cast<const char*>(column->buffers[2]) + offsets[0];
  auto owner = std::make_shared<arrow::Owned<ArrowArray>>(std::move(batch));
  return {{text, size}, std::move(owner), name, static_cast<std::int64_t>(size)};
}

// What the plug-in says of a workbook: `wanted` are lines as plugins/files/src/sheet.rs has them.
Bytes ask(const Bytes& workbook, const std::string& wanted, const RunOptions& run) {
  const StopeFilesFunctions& plugin = files_functions("a workbook", workbook.name);
  if (plugin.read_sheet == nullptr) {
    throw Error(ErrorCode::unsupported, "is a workbook, and the plug-in for files reads none", {workbook.name});
  }
  run.cancel.check();
  const std::int64_t budget = memory_budget(run) - (run.memory_limit > 0 ? workbook.held : 0);
  arrow::Owned<ArrowArrayStream> rows;
  StopeFilesFailure failure{};
  const std::int64_t limit = std::max<std::int64_t>(budget / kTextShare, 1);
  if (plugin.read_sheet(lend(workbook), wanted.c_str(), limit, rows.get(), &failure) != kStopeFilesOk) {
    throw_files_failure(failure, workbook.name);
  }
  ArrowArray given{};
  if (rows->get_next(rows.get(), &given) != 0) throw_files_failure(*rows.get(), workbook.name);
  return text_in(arrow::Owned<ArrowArray>(&given), workbook.name);
}

Bytes text_of_sheet(const Bytes& workbook, const ReadOptions& options, const RunOptions& run) {
  if (options.skip_lines < 0) {
    throw Error(ErrorCode::invalid_argument, "skip_lines is " + std::to_string(options.skip_lines),
                {.option = "skip_lines"});
  }
  if (options.sheet.find('\n') != std::string::npos) {
    throw Error(ErrorCode::invalid_argument, "the name of a sheet has no line break", {.option = "sheet"});
  }
  try {
    return ask(
        workbook,
        "sheet=" + options.sheet + "\nskip=" + std::to_string(std::min<std::int64_t>(options.skip_lines, 1 << 30)),
        run);
  } catch (const Error& error) {
    if (error.message().find("has no sheet") == std::string::npos) throw;
    Place place = error.place();
    place.option = "sheet";
    throw Error(error.code(), error.message(), place);
  }
}

ReadOptions csv_options(const ReadOptions& options) {
  ReadOptions csv = options;
  csv.format = Format::csv;
  csv.encoding = Encoding::utf8;
  csv.separator = ',';
  csv.decimal = '.';
  csv.thousands = options.thousands == '.' ? '\0' : options.thousands;  // the numbers that are numbers have points
  csv.comment = '\0';
  csv.skip_lines = 0;
  csv.allow_ragged = false;
  return csv;
}

// A row of the sheet is a record, which may have line breaks in its cells.
std::int64_t row_of_line(std::string_view text, std::int64_t line) {
  std::int64_t lines = 0, rows = 0;
  const auto n = static_cast<std::int64_t>(text.size());
  for (std::int64_t at = 0; at < n && lines < line; ++rows) {
    const csv::Record record = csv::scan_record(text, at, {}, [](std::int64_t, std::int64_t) {});
    if (record.status != csv::RecordStatus::complete) return 0;
    lines += std::count(text.begin() + at, text.begin() + record.next, '\n');
    at = record.next;
  }
  return rows;
}

}  // namespace

Table read_sheet(const Bytes& workbook, const ReadOptions& options, const Schema* schema, const RunOptions& run) {
  const Bytes text = text_of_sheet(workbook, options, run);
  try {
    return read_csv(text, csv_options(options), schema, run);
  } catch (const Error& error) {
    if (error.line() == 0) throw;
    Place place = error.place();
    place.line = row_of_line(text.view, place.line);
    place.column = 0;  // a character of the text that nobody has seen
    throw Error(error.code(), error.message(), place);
  }
}

Place place_in_sheet(const Bytes& workbook, const ReadOptions& options, const Schema* schema, std::int64_t row,
                     std::string_view feature, const RunOptions& run) {
  const Bytes text = text_of_sheet(workbook, options, run);
  Place place = place_in_csv(text, csv_options(options), schema, row, feature, run);
  if (place.line > 0) place.line = row_of_line(text.view, place.line);
  place.column = 0;
  return place;
}

bool begins_workbook(std::string_view content) {
  constexpr std::array<std::string_view, 5> kFirstNames = {"[Content_Types].xml", "_rels/.rels", "xl/", "docProps/",
                                                           "mimetypeapplication/vnd.oasis.opendocument.spreadsheet"};
  if (!content.starts_with("PK\x03\x04") || content.size() < 30) return false;
  const std::string_view name = content.substr(30);
  return std::any_of(kFirstNames.begin(), kFirstNames.end(),
                     [name](std::string_view first) { return name.starts_with(first); });
}

}  // namespace stope::io

namespace stope {

std::vector<SheetName> sheets_of(const std::string& path, const RunOptions& run) try {
  const io::Bytes text = io::ask(io::load_bytes(path, run), "names", run);
  std::vector<SheetName> sheets;
  for (std::string_view left = text.view; !left.empty();) {
    std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    const bool hidden = line.ends_with("\thidden");
    if (hidden) line.remove_suffix(std::string_view("\thidden").size());
    sheets.push_back({std::string(line), !hidden});
  }
  return sheets;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
