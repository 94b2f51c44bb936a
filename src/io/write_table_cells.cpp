#include "io/write_table_cells.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "io/number.hpp"
#include "stope/error.hpp"

namespace stope::io {

namespace {

// From the coarsest to the finest: each can write what the ones before it can.
constexpr std::array<std::pair<DateFormat, Spelling>, 4> kFormats = {
    {{DateFormat::date, Spelling::date},
     {DateFormat::date_time, Spelling::date_time},
     {DateFormat::date_millis, Spelling::date_millis},
     {DateFormat::date_micros, Spelling::date_micros}}};

}  // namespace

Spelling spelling_of(const Column& column) {
  if (column.type == ValueType::integer) return Spelling::integer;
  if (column.type != ValueType::date) return Spelling::real;
  std::size_t format = 0;
  std::string text;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    const double value = column.at(row);
    if (std::isnan(value)) continue;
    text.clear();
    while (!append_date(text, kFormats[format].first, value)) {
      if (++format == kFormats.size()) return Spelling::real;
    }
  }
  return kFormats[format].second;
}

void append_cell(std::string& out, double value, Spelling spelling) {
  constexpr double kExactIntegers = 9007199254740992;  // 2^53: every whole number up to here is a double
  switch (spelling) {
    case Spelling::date: append_date(out, DateFormat::date, value); return;
    case Spelling::date_time: append_date(out, DateFormat::date_time, value); return;
    case Spelling::date_millis: append_date(out, DateFormat::date_millis, value); return;
    case Spelling::date_micros: append_date(out, DateFormat::date_micros, value); return;
    case Spelling::real: append_number(out, value); return;
    case Spelling::integer: break;
  }
  // An integer column may hold other numbers: ARFF readers, ours among them, let 1.5 pass.
  if (!(std::fabs(value) <= kExactIntegers) || value != std::floor(value)) return append_number(out, value);
  if (value == 0 && std::signbit(value)) out += '-';
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(value)).ptr;
  out.append(text, static_cast<std::size_t>(end - text));
}

const std::string& value_name(const Column& column, std::int64_t row) {
  const std::int32_t code = column.codes()[row];
  if (code < 0 || code >= static_cast<std::int64_t>(column.values.size())) {
    throw Error(ErrorCode::invalid_argument,
                "column '" + column.name + "', row " + std::to_string(row) + ": code " + std::to_string(code) +
                    " is outside its " + std::to_string(column.values.size()) + " values",
                {.feature = column.name, .row = row});
  }
  return column.values[static_cast<std::size_t>(code)];
}

}  // namespace stope::io
