// A slow, simple CSV reader to compare the fast one with: one pass over the characters, strings for everything, strtod
// for numbers. It shares no code with src/io.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <regex>
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
  bool numeric = true;  // numbers or dates
  bool dates = false;
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
  bool commas = false;  // a column may have decimal commas
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

// Digits alone that a double does not give back.
inline bool csv_loses_digits(const std::string& text) {
  const std::string digits = text.substr(text[0] == '+' || text[0] == '-' ? 1 : 0);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return false;
  if (digits.size() > 1 && digits[0] == '0') return true;
  return digits.size() > 18 || (!digits.empty() && std::stoll(digits) > (1LL << 53));
}

// YYYY-MM-DD[(T| )hh:mm[:ss[.decimals]][Z|(+|-)hh[[:]mm]]], if no decimal is lost.
inline bool csv_date(const std::string& text, double& value) {
  static const std::regex form(
      "(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T "
      "](\\d\\d):(\\d\\d)(?::(\\d\\d(?:\\.\\d*)?))?(?:Z|([+-])(\\d\\d)(?::?(\\d\\d))?)?)?");
  std::smatch part;
  if (!std::regex_match(text, part, form)) return false;
  const auto number = [&](std::size_t i) { return part[i].matched ? std::atoi(part[i].str().c_str()) : 0; };
  const int year = number(1), month = number(2), day = number(3);
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1]) return false;
  long long days = day - 1;
  for (int m = 1; m < month; ++m) days += lengths[m - 1];
  const long long before = year - 1LL;  // years whose leap days are over; the year -1 has 365 days less than year 0
  days += 365LL * year + (year > 0 ? before / 4 - before / 100 + before / 400 + 1 : 0) - 719528;
  if (number(4) > 23 || number(5) > 59 || number(8) > 23 || number(9) > 59) return false;
  const std::string second = part[6].matched ? part[6].str() : "0";
  const double seconds = std::strtod(second.c_str(), nullptr);
  if (seconds >= 60) return false;
  const int offset = (number(8) * 60 + number(9)) * (part[7].matched && part[7].str() == "-" ? -60 : 60);
  value = (static_cast<double>(days) * 86400 + ((number(4) * 60 + number(5)) * 60 + seconds - offset)) / 86400;
  std::string decimals = second.size() > 3 ? second.substr(3) : "";
  while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
  if (decimals.size() > 6) return false;
  double unit = 1000000;
  for (std::size_t i = 0; i < decimals.size(); ++i) unit /= 10;
  decimals.resize(6, '0');
  const long long micros =
      ((number(4) * 60 + number(5)) * 60LL + std::atoi(second.c_str())) * 1000000 + std::stoll(decimals);
  const double found = (value - static_cast<double>(days)) * 86400e6 + offset * 1e6;
  return std::llround(found / unit) == micros / static_cast<long long>(unit);
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
    table.columns.emplace_back().name = options.header ? (*first)[c].text : "";
    if (!table.columns[c].name.empty() && !names.insert(table.columns[c].name).second) return table;
  }
  for (std::size_t c = 0; c < n_columns; ++c) {
    std::string& name = table.columns[c].name;
    if (!name.empty()) continue;
    name = std::to_string(c + 1);
    while (!names.insert(name).second) name += "_";
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
    // The first reading that takes every field.
    const auto takes_all = [&](const auto& parse) {
      column.numbers.clear();
      for (const auto& row : rows) {
        double value = std::numeric_limits<double>::quiet_NaN();
        const std::string& field = row[c].text;
        if (!field.empty() && !token(field) && !parse(field, value)) return false;
        column.numbers.push_back(value);
      }
      return true;
    };
    const auto number = [](char decimal) {
      return [decimal](const std::string& field, double& value) {
        return !csv_loses_digits(field) && csv_number(field, decimal, value);
      };
    };
    column.numeric = takes_all(number(options.decimal)) || (options.commas && takes_all(number(',')));
    if (!column.numeric) column.numeric = column.dates = takes_all(csv_date);
    for (const auto& row : rows) {
      const CsvField& field = row[c];
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
