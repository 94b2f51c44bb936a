#include "io/arrow/numbers.hpp"

#include <limits>
#include <type_traits>

#include "io/arrow/exact.hpp"
#include "stope/error.hpp"

namespace stope::io::arrow {
namespace {

constexpr std::int64_t kMaxExactInteger = std::int64_t{1} << 53;

// Calls value_of(i, row) for every element that is there; `row` counts in the column. The loop without nulls has no
// branch, so that the compiler can vectorise conversions.
template <class To, class ValueOf>
void fill(const Rows& rows, Column& column, const ValueOf& value_of) {
  To* const to = std::get<Buffer<To>>(column.data).data() + rows.row0;
  const Chunk& chunk = *rows.chunk;
  if (chunk.validity == nullptr) {
    for (std::int64_t i = rows.first; i < rows.last; ++i) to[i] = value_of(i);
    return;
  }
  for (std::int64_t i = rows.first; i < rows.last; ++i) {
    to[i] = chunk.valid(i) ? value_of(i) : std::numeric_limits<To>::quiet_NaN();
  }
}

// About element i of these rows, which no table holds.
[[noreturn]] void refuse(const Field& field, const Rows& rows, std::int64_t i, const std::string& what) {
  field.refuse_to_hold(what, rows.row0 + i);
}

template <class From>
void copy_as(const Field& field, const Rows& rows, Column& column) {
  using To = std::conditional_t<sizeof(From) <= 2 || std::is_same_v<From, float>, float, double>;
  const Chunk& chunk = *rows.chunk;
  fill<To>(rows, column, [&](std::int64_t i) {
    const From value = chunk.value<From>(1, i);
    if constexpr (std::is_same_v<From, std::int64_t>) {
      if (value < -kMaxExactInteger || value > kMaxExactInteger) {
        refuse(field, rows, i, "the int64 " + std::to_string(value) + " is beyond 2^53 and has no exact float64");
      }
    } else if constexpr (std::is_same_v<From, std::uint64_t>) {
      if (value > static_cast<std::uint64_t>(kMaxExactInteger)) {
        refuse(field, rows, i, "the uint64 " + std::to_string(value) + " is beyond 2^53 and has no exact float64");
      }
    }
    return static_cast<To>(value);
  });
}

void copy_decimals(const Field& field, const Rows& rows, Column& column) {
  const Chunk& chunk = *rows.chunk;
  const int bytes = field.type.decimal_bytes;
  const auto* const numbers = reinterpret_cast<const unsigned char*>(chunk.buffer(1)) + chunk.begin * bytes;
  fill<double>(rows, column, [&](std::int64_t i) {
    const std::optional<double> value = decimal_to_double(numbers + i * bytes, bytes, field.type.scale);
    if (!value.has_value()) refuse(field, rows, i, "the decimal has more digits than a float64 keeps");
    return *value;
  });
}

}  // namespace

void copy_numbers(const Field& field, const Rows& rows, Column& column) {
  const Chunk& chunk = *rows.chunk;
  const std::int64_t per_day = field.type.units_per_day;
  switch (field.type.kind) {
    case Kind::int8: return copy_as<std::int8_t>(field, rows, column);
    case Kind::uint8: return copy_as<std::uint8_t>(field, rows, column);
    case Kind::int16: return copy_as<std::int16_t>(field, rows, column);
    case Kind::uint16: return copy_as<std::uint16_t>(field, rows, column);
    case Kind::int32:
    case Kind::date32: return copy_as<std::int32_t>(field, rows, column);
    case Kind::uint32: return copy_as<std::uint32_t>(field, rows, column);
    case Kind::int64: return copy_as<std::int64_t>(field, rows, column);
    case Kind::uint64: return copy_as<std::uint64_t>(field, rows, column);
    case Kind::float32: return copy_as<float>(field, rows, column);
    case Kind::float64: return copy_as<double>(field, rows, column);
    case Kind::decimal: return copy_decimals(field, rows, column);
    case Kind::float16:
      return fill<float>(rows, column, [&](std::int64_t i) { return half_to_float(chunk.value<std::uint16_t>(1, i)); });
    case Kind::date64:
    case Kind::timestamp:
      return fill<double>(rows, column,
                          [&](std::int64_t i) { return days_of(chunk.value<std::int64_t>(1, i), per_day); });
    default: return fill<double>(rows, column, [](std::int64_t) { return std::numeric_limits<double>::quiet_NaN(); });
  }
}

}  // namespace stope::io::arrow
