// A slow, simple CSV reader to compare the fast one with: one pass over the characters, strings for everything, strtod
// for numbers. It shares no code with src/io.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stope::oracle {

struct CsvField {
  std::string text;
  bool quoted = false;
};

struct CsvColumn {
  std::string name;
  bool numeric = true;
  std::vector<double> numbers;                     // NaN = missing
  std::vector<std::optional<std::string>> values;  // nominal
  std::vector<std::string> sorted_values;
};

struct CsvTable {
  bool malformed = false;
  std::vector<CsvColumn> columns;
  std::size_t n_rows = 0;
};

struct CsvOptions {
  char separator = ',';
  bool header = true;
  char decimal = '.';
  std::vector<std::string> missing = {"?", "NA", "NaN"};
};

// Reads [+-] (digits [. digits] | . digits) [e [+-] digits], or nan / inf / infinity in any case.
inline bool csv_number(std::string text, char decimal, double& value) {
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return k < text.size() ? text[k] : '\0'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (at(i) == '+' || at(i) == '-') ++i;
  std::string word;
  for (std::size_t k = i; k < text.size(); ++k)
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[k])));
  if (word == "nan" || word == "inf" || word == "infinity") {
    value = word == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    if (text[0] == '-') value = -value;
    return true;
  }
  std::size_t n_digits = 0;
  for (; is_digit(at(i)); ++i) ++n_digits;
  if (i < text.size() && text[i] == decimal) {
    text[i++] = '.';
    for (; is_digit(at(i)); ++i) ++n_digits;
  }
  if (n_digits == 0) return false;
  if (at(i) == 'e' || at(i) == 'E') {
    ++i;
    if (at(i) == '+' || at(i) == '-') ++i;
    std::size_t n_exponent = 0;
    for (; is_digit(at(i)); ++i) ++n_exponent;
    if (n_exponent == 0) return false;
  }
  if (i != text.size()) return false;
  value = std::strtod(text.c_str(), nullptr);
  return true;
}

// Returns false if the text is malformed. Records of only blanks are kept as one empty field.
inline bool csv_records(const std::string& text, char separator, std::vector<std::vector<CsvField>>& records) {
  const auto blank = [&](char c) { return (c == ' ' || c == '\t') && c != separator; };
  enum class State { before, plain, quoted, after } state = State::before;
  std::vector<CsvField> record;
  CsvField field;
  bool started = false;  // whether the record has a character
  const auto end_field = [&] {
    if (!field.quoted) {
      while (!field.text.empty() && blank(field.text.back())) field.text.pop_back();
    }
    record.push_back(field);
    field = {};
    state = State::before;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (state == State::quoted) {
      if (c != '"') {
        field.text += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field.text += '"';
        ++i;
      } else {
        state = State::after;
      }
      continue;
    }
    started = true;
    if (c == separator) {
      end_field();
    } else if (c == '\n' || c == '\r') {
      if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
      end_field();
      records.push_back(record);
      record.clear();
      started = false;
    } else if (state == State::after) {
      if (!blank(c)) return false;
    } else if (state == State::before && blank(c)) {
      continue;
    } else if (state == State::before && c == '"') {
      field.quoted = true;
      state = State::quoted;
    } else {
      field.text += c;
      state = State::plain;
    }
  }
  if (state == State::quoted) return false;
  if (started) {
    end_field();
    records.push_back(record);
  }
  return true;
}

// Reads valid UTF-8 without a NUL, with an explicit separator and header.
inline CsvTable read_csv(const std::string& text, const CsvOptions& options) {
  CsvTable table;
  table.malformed = true;
  std::vector<std::vector<CsvField>> records;
  if (!csv_records(text, options.separator, records)) return table;
  const auto is_blank = [](const std::vector<CsvField>& r) {
    return r.size() == 1 && !r[0].quoted && r[0].text.empty();
  };
  auto first = std::find_if(records.begin(), records.end(), [&](const auto& r) { return !is_blank(r); });
  if (first == records.end()) return table;
  const std::size_t n_columns = first->size();
  std::set<std::string> names;
  for (std::size_t c = 0; c < n_columns; ++c) {
    CsvColumn column;
    column.name = options.header && !(*first)[c].text.empty() ? (*first)[c].text : std::to_string(c + 1);
    if (!names.insert(column.name).second) return table;
    table.columns.push_back(column);
  }
  std::vector<std::vector<CsvField>> rows;
  for (auto it = options.header ? first + 1 : records.begin(); it != records.end(); ++it) {
    if (is_blank(*it) && n_columns > 1) continue;
    if (it->size() != n_columns) return table;
    rows.push_back(*it);
  }
  table.malformed = false;
  table.n_rows = rows.size();
  for (std::size_t c = 0; c < n_columns; ++c) {
    CsvColumn& column = table.columns[c];
    const auto token = [&](const std::string& s) {
      return std::find(options.missing.begin(), options.missing.end(), s) != options.missing.end();
    };
    for (const auto& row : rows) {
      double value = std::numeric_limits<double>::quiet_NaN();
      const CsvField& field = row[c];
      const bool missing = field.text.empty() || token(field.text);
      if (!missing && !csv_number(field.text, options.decimal, value)) column.numeric = false;
      column.numbers.push_back(value);
      const bool no_value = field.text.empty() || (!field.quoted && token(field.text));
      column.values.push_back(no_value ? std::nullopt : std::optional<std::string>(field.text));
    }
    std::set<std::string> distinct;
    for (const auto& value : column.values) {
      if (value.has_value()) distinct.insert(*value);
    }
    column.sorted_values.assign(distinct.begin(), distinct.end());
  }
  return table;
}

}  // namespace stope::oracle
