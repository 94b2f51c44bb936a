#include "io/arrow/export_column.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "io/arrow/exact.hpp"
#include "io/arrow/schema.hpp"
#include "stope/error.hpp"
#include "table/lasting.hpp"

namespace stope::io::arrow {
namespace {

// Rows between two looks at the cancel token: about a millisecond. A multiple of 8, so that each has bytes of its own.
constexpr std::int64_t kCancelRows = std::int64_t{1} << 16;
// Bitmaps are padded to the size that Arrow recommends: programs may read whole vectors of them.
constexpr std::int64_t kBitmapBytes = 64;

// Fills the bitmap and the count of nulls; `missing(row)` is asked once for each row.
template <class Missing>
void mark_nulls(ExportedColumn& to, std::int64_t n_rows, const CancelToken& cancel, const Missing& missing) {
  const std::int64_t bytes = (n_rows / 8 / kBitmapBytes + 1) * kBitmapBytes;
  Buffer<std::uint8_t> bits(bytes);
  std::memset(bits.data(), 0, static_cast<std::size_t>(bytes));
  for (std::int64_t first = 0; first < n_rows; first += kCancelRows) {
    cancel.check();
    const std::int64_t last = std::min(n_rows, first + kCancelRows);
    for (std::int64_t row = first; row < last; row += 8) {
      const std::int64_t n = std::min<std::int64_t>(8, last - row);
      unsigned present = 0;
      for (std::int64_t i = 0; i < n; ++i) present |= (missing(row + i) ? 0U : 1U) << i;
      bits[row / 8] = static_cast<std::uint8_t>(present);
      to.null_count += n - std::popcount(present);
    }
  }
  if (to.null_count > 0) to.validity = std::move(bits);
}

template <class T>
void export_numbers(ExportedColumn& to, const Buffer<T>& values, const char* format, const CancelToken& cancel) {
  mark_nulls(to, values.size(), cancel, [&](std::int64_t row) { return std::isnan(values[row]); });
  to.values = values.data();
  to.format = format;
}

// Writes all days as whole numbers of a unit, or gives up at the first that is none. Missing values become 0.
template <class Count>
bool write_units(const Column& column, std::int64_t per_day, const CancelToken& cancel, Buffer<Count>& counts) {
  Buffer<Count> made(column.size());
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (row % kCancelRows == 0) cancel.check();
    const double days = column.at(row);
    made[row] = 0;
    if (std::isnan(days)) continue;
    const std::optional<std::int64_t> units = units_of(days, per_day);
    if (!units.has_value() || *units > std::numeric_limits<Count>::max() ||
        *units < std::numeric_limits<Count>::min()) {
      return false;
    }
    made[row] = static_cast<Count>(*units);
  }
  counts = std::move(made);
  return true;
}

// False if some value has no exact counterpart in any unit.
bool export_dates(ExportedColumn& to, const CancelToken& cancel) {
  const Column& column = to.column;
  if (write_units(column, 1, cancel, to.days)) {
    to.values = to.days.data();
    to.format = "tdD";
  } else {
    struct Unit {
      const char* format;
      std::int64_t per_day;
    };
    // Without a time zone: the table does not know in which one its dates were meant.
    constexpr std::array kUnits{Unit{"tss:", 86400}, Unit{"tsm:", 86400000}, Unit{"tsu:", 86400000000},
                                Unit{"tsn:", 86400000000000}};
    for (const Unit& unit : kUnits) {
      if (!write_units(column, unit.per_day, cancel, to.units)) continue;
      to.values = to.units.data();
      to.format = unit.format;
      break;
    }
    if (to.format.empty()) return false;
  }
  mark_nulls(to, column.size(), cancel, [&](std::int64_t row) { return column.missing(row); });
  return true;
}

void export_dictionary(ExportedColumn& to) {
  const auto& values = to.column.values;
  const auto n_values = static_cast<std::int64_t>(values.size());
  std::int64_t bytes = 0;
  for (const std::string& value : values) bytes += static_cast<std::int64_t>(value.size());
  if (bytes > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::unsupported,
                "column '" + to.column.name + "': its value names have " + std::to_string(bytes) +
                    " bytes, Arrow's strings hold 2 GiB",
                {.feature = to.column.name});
  }
  to.offsets = Buffer<std::int32_t>(n_values + 1);
  to.text = Buffer<char>(bytes);
  std::int32_t at = 0;
  std::int64_t i = 0;
  for (const std::string& value : values) {
    to.offsets[i++] = at;
    if (!value.empty()) std::memcpy(to.text.data() + at, value.data(), value.size());
    at += static_cast<std::int32_t>(value.size());
  }
  to.offsets[i] = at;
}

void export_codes(ExportedColumn& to, const CancelToken& cancel) {
  const Buffer<std::int32_t>& codes = to.column.codes();
  mark_nulls(to, codes.size(), cancel, [&](std::int64_t row) { return codes[row] == kMissingCode; });
  to.values = codes.data();
  to.format = "i";
  export_dictionary(to);
}

// What import_arrow would take the column for without metadata.
ValueType type_without_metadata(const ExportedColumn& to) {
  if (to.has_dictionary()) return ValueType::polynominal;
  return to.format[0] == 't' ? ValueType::date : ValueType::real;
}

}  // namespace

ExportedColumn export_column(const Column& column, const CancelToken& cancel) {
  ExportedColumn to;
  to.column = column;
  make_lasting(to.column);  // the batch may outlive memory that the table has borrowed without an owner
  if (column.nominal()) {
    export_codes(to, cancel);
  } else if (column.type != ValueType::date || !export_dates(to, cancel)) {
    if (const auto* f32 = std::get_if<Buffer<float>>(&to.column.data)) {
      export_numbers(to, *f32, "f", cancel);
    } else {
      export_numbers(to, std::get<Buffer<double>>(to.column.data), "g", cancel);
    }
  }
  std::vector<std::pair<std::string, std::string>> entries;
  if (column.role != Role::regular) entries.emplace_back(kRoleKey, to_string(column.role));
  if (column.type != type_without_metadata(to)) entries.emplace_back(kTypeKey, to_string(column.type));
  if (!entries.empty()) to.metadata = encode_metadata(entries);
  return to;
}

}  // namespace stope::io::arrow
