// Tables as ARFF: types, value lists and quotes such that reading gives the same table (docs/FORMATS.md).
#include <cmath>
#include <vector>

#include "base/progress.hpp"
#include "io/write_table_cells.hpp"
#include "io/write_table_formats.hpp"

namespace stope::io {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

bool needs_quotes(std::string_view text) {
  if (text.empty() || text == "?" || text.front() == '@') return true;
  for (const char c : text) {
    if ((c >= '\0' && c <= ' ') || c == ',' || c == '{' || c == '}' || c == '%' || c == '\'' || c == '"' || c == '\\') {
      return true;
    }
  }
  return false;
}

void append_word(std::string& out, std::string_view text) {
  if (!needs_quotes(text)) {
    out += text;
    return;
  }
  out += '\'';
  for (const char c : text) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\'':
      case '\\': out += '\\'; [[fallthrough]];
      default: out += c;
    }
  }
  out += '\'';
}

/// The reader turns instance weights into a last column of role weight and that name. Such a column is written as
/// weights again.
bool is_instance_weight(const Table& table) {
  const Column& last = table.columns.back();
  if (table.columns.size() < 2 || last.role != Role::weight || last.name != "weight" || last.type != ValueType::real) {
    return false;
  }
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    if (!std::isfinite(last.at(row))) return false;
  }
  return table.n_rows > 0;
}

void append_attribute(std::string& out, const Column& column, Spelling spelling) {
  if (column.name.empty()) throw Error(ErrorCode::unsupported, "ARFF has no column without a name");
  out += "@attribute ";
  append_word(out, column.name);
  if (column.nominal()) {
    out += " {";
    for (std::size_t i = 0; i < column.values.size(); ++i) {
      if (i > 0) out += ',';
      append_word(out, column.values[i]);
    }
    out += '}';
  } else if (spelling == Spelling::integer) {
    out += " integer";
  } else if (spelling == Spelling::date) {
    out += " date yyyy-MM-dd";
  } else if (spelling == Spelling::date_time) {
    out += " date \"yyyy-MM-dd'T'HH:mm:ss\"";
  } else if (spelling == Spelling::date_millis) {
    out += " date \"yyyy-MM-dd'T'HH:mm:ss.SSS\"";
  } else {
    out += " real";
  }
  out += '\n';
}

}  // namespace

void write_arff(const Table& table, const RunOptions& run, const ByteSink& sink, Part part) {
  const bool weighted = is_instance_weight(table);
  const std::size_t n_attributes = table.columns.size() - (weighted ? 1 : 0);
  std::vector<Spelling> spellings;
  std::string out = "@relation stope\n\n";
  for (std::size_t c = 0; c < n_attributes; ++c) {
    spellings.push_back(spelling_of(table.columns[c]));
    if (spellings.back() == Spelling::date_micros) spellings.back() = Spelling::real;
    append_attribute(out, table.columns[c], spellings.back());
  }
  out += "\n@data\n";
  if (part == Part::later) out.clear();
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    for (std::size_t c = 0; c < n_attributes; ++c) {
      const Column& column = table.columns[c];
      if (c > 0) out += ',';
      if (column.missing(row)) {
        out += '?';
      } else if (column.nominal()) {
        append_word(out, value_name(column, row));
      } else {
        append_cell(out, column.at(row), spellings[c]);
      }
    }
    if (weighted) {
      out += ",{";
      append_cell(out, table.columns.back().at(row), Spelling::real);
      out += '}';
    }
    out += '\n';
    if (out.size() >= kChunkBytes) {
      run.cancel.check();
      tell_progress(run, "write", row, table.n_rows);
      sink(out);
      out.clear();
    }
  }
  sink(out);
  tell_progress(run, "write", table.n_rows, table.n_rows);
}

}  // namespace stope::io
