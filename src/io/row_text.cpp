// Rows as CSV and JSON text (stope/row_text.hpp).
#include "stope/row_text.hpp"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "io/arff_date.hpp"
#include "io/number.hpp"
#include "io/write_table_cells.hpp"
#include "io/write_table_formats.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using io::Spelling;

constexpr std::array<std::pair<std::string_view, RowText>, 3> kNames = {
    {{"csv", RowText::csv}, {"json_arrays", RowText::json_arrays}, {"json_objects", RowText::json_objects}}};
constexpr std::int64_t kCancelRows = 4096;  // about a millisecond between two looks at the cancel token

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_json_number(std::string& out, double value, Spelling spelling) {
  const bool quoted = std::isinf(value) || (spelling != Spelling::real && spelling != Spelling::integer);
  if (quoted) out += '"';
  io::append_cell(out, value, spelling);
  if (quoted) out += '"';
}

void append_json_cell(std::string& out, const Column& column, std::int64_t row, Spelling spelling) {
  if (column.missing(row)) {
    out += "null";
  } else if (column.nominal()) {
    append_json_string(out, io::value_name(column, row));
  } else {
    append_json_number(out, column.at(row), spelling);
  }
}

void append_json(std::string& out, const Table& table, RowText text, const RunOptions& run) {
  const bool objects = text == RowText::json_objects;
  std::vector<Spelling> spellings;
  std::vector<std::string> before;  // what stands before each cell: a comma, and in objects the name
  for (const Column& column : table.columns) {
    spellings.push_back(io::spelling_of(column));
    std::string lead = before.empty() ? "" : ",";
    if (objects) {
      append_json_string(lead, column.name);
      lead += ':';
    }
    before.push_back(std::move(lead));
  }
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    if (row % kCancelRows == 0) run.cancel.check();
    if (row > 0) out += ',';
    out += objects ? '{' : '[';
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      out += before[c];
      append_json_cell(out, table.columns[c], row, spellings[c]);
    }
    out += objects ? '}' : ']';
  }
}

}  // namespace

DateUnit date_unit(const Column& column) try {
  switch (column.type == ValueType::date ? io::spelling_of(column) : Spelling::real) {
    case Spelling::date: return DateUnit::day;
    case Spelling::date_time: return DateUnit::second;
    case Spelling::date_millis: return DateUnit::millisecond;
    case Spelling::date_micros: return DateUnit::microsecond;
    case Spelling::real:
    case Spelling::integer: break;
  }
  return DateUnit::none;
} catch (...) {
  rethrow_as_error();
}

bool append_date(std::string& out, double days, DateUnit unit) try {
  switch (unit) {
    case DateUnit::none: break;
    case DateUnit::day: return io::append_date(out, io::DateFormat::date, days);
    case DateUnit::second: return io::append_date(out, io::DateFormat::date_time, days);
    case DateUnit::millisecond: return io::append_date(out, io::DateFormat::date_millis, days);
    case DateUnit::microsecond: return io::append_date(out, io::DateFormat::date_micros, days);
  }
  return false;
} catch (...) {
  rethrow_as_error();
}

RowText row_text(std::string_view name) try {
  for (const auto& [known, text] : kNames) {
    if (known == name) return text;
  }
  throw Error(ErrorCode::invalid_argument, "rows have no text form '" + std::string(name) + "'");
} catch (...) {
  rethrow_as_error();
}

void append_rows(std::string& out, const Table& table, RowText text, const RunOptions& run) try {
  if (text == RowText::csv) {
    io::write_csv(table, ',', run, [&out](std::string_view part) { out += part; }, io::Part::later);
  } else {
    append_json(out, table, text, run);
  }
} catch (...) {
  rethrow_as_error();
}

void append_csv_header(std::string& out, const Table& table) try {
  io::append_csv_header(out, table, ',');
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
