// The Arrow types that a table can hold, from the format strings of the C data interface.
#pragma once

#include <cstdint>
#include <string>

#include "stope/error.hpp"

namespace stope::io::arrow {

enum class Kind {
  null,
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  decimal,
  date32,
  date64,
  timestamp,
  utf8,
  large_utf8,
  utf8_view
};

struct Type {
  Kind kind = Kind::null;
  std::int64_t units_per_day = 1;  ///< dates and timestamps
  int decimal_bytes = 16;          ///< width of a decimal: 4, 8, 16 or 32
  int scale = 0;                   ///< digits of a decimal behind the point; negative: zeros before it
};

constexpr bool is_string(Kind kind) {
  return kind >= Kind::utf8;
}
constexpr bool is_integer(Kind kind) {
  return kind >= Kind::int8 && kind <= Kind::uint64;
}
constexpr bool is_date(Kind kind) {
  return kind >= Kind::date32 && kind <= Kind::timestamp;
}
/// Whether float32 holds every value of the type.
constexpr bool is_narrow(Kind kind) {
  return (kind >= Kind::int8 && kind <= Kind::uint16) || kind == Kind::float16 || kind == Kind::float32;
}

/// The type of a format string. Throws unsupported, naming the type, for a type of Arrow that a table cannot hold, and
/// invalid_data for a format that Arrow does not know. `where` begins the message ("column 'x'").
Type parse_format(const char* format, const std::string& where, const Place& place);

/// A short name for messages: "int64", "large string".
const char* name_of(Kind kind);

}  // namespace stope::io::arrow
