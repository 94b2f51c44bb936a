// Column and Table: access, construction, validation (stope/table.hpp).
#include "stope/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "base/choices.hpp"
#include "base/guarded.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"
#include "table/check_table.hpp"
#include "table/column_memory.hpp"

namespace stope {

namespace {

constexpr std::string_view kTypes[] = {"real", "integer", "date", "nominal", "polynominal", "binominal"};
constexpr std::string_view kRoles[] = {"regular", "label", "id", "weight", "ignore"};

}  // namespace

ValueType value_type(std::string_view name) try {
  return choice_of<ValueType>(kTypes, name, {"type", "type"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(ValueType type) noexcept {
  return name_of(kTypes, type);
}
Role role(std::string_view name) try { return choice_of<Role>(kRoles, name, {"role", "role"}); } catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Role role) noexcept {
  return name_of(kRoles, role);
}

std::int64_t Column::size() const {
  return std::visit([](const auto& buffer) { return buffer.size(); }, data);
}

double Column::at(std::int64_t row) const {
  if (const auto* f64 = std::get_if<Buffer<double>>(&data)) return (*f64)[row];
  if (const auto* f32 = std::get_if<Buffer<float>>(&data)) return static_cast<double>((*f32)[row]);
  const std::int32_t code = std::get<Buffer<std::int32_t>>(data)[row];
  return code == kMissingCode ? std::numeric_limits<double>::quiet_NaN() : code;
}

bool Column::missing(std::int64_t row) const {
  return std::isnan(at(row));
}

Column make_numeric(std::string name, const std::vector<double>& data, ValueType type) try {
  Buffer<double> buffer(static_cast<std::int64_t>(data.size()));
  std::copy(data.begin(), data.end(), buffer.begin());
  return {std::move(name), type, Role::regular, std::move(buffer), {}};
} catch (...) {
  rethrow_as_error();
}

Column make_nominal(std::string name, const std::vector<std::int32_t>& codes, Values values, ValueType type) try {
  Buffer<std::int32_t> buffer(static_cast<std::int64_t>(codes.size()));
  std::copy(codes.begin(), codes.end(), buffer.begin());
  return column_of(std::move(name), std::move(buffer), std::move(values), type);
} catch (...) {
  rethrow_as_error();
}

Column column_of(std::string name, Buffer<double> data, ValueType type) {
  return {std::move(name), type, Role::regular, std::move(data), {}};
}

Column column_of(std::string name, Buffer<float> data, ValueType type) {
  return {std::move(name), type, Role::regular, std::move(data), {}};
}

Column column_of(std::string name, Buffer<std::int32_t> codes, Values values, ValueType type) {
  Column column{std::move(name), type, Role::regular, std::move(codes), std::move(values)};
  check_codes(column);
  return column;
}

std::int64_t Table::find(std::string_view name) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<std::int64_t>(i);
  }
  return -1;
}

std::int64_t Table::find(std::string_view name_or_number, std::string_view option) const {
  if (const std::int64_t at = find(name_or_number); at >= 0) return at;
  std::size_t number = 0;
  const char* const end = name_or_number.data() + name_or_number.size();
  const auto [rest, status] = std::from_chars(name_or_number.data(), end, number);
  if (status == std::errc() && rest == end && number >= 1 && number <= columns.size()) {
    return static_cast<std::int64_t>(number - 1);
  }
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const Column& column : columns) names.push_back(column.name);
  throw Error(ErrorCode::invalid_data,
              "no column is called '" + std::string(name_or_number) + "' (" + std::string(option) + ")" +
                  did_you_mean(name_or_number, names),
              {.file = source, .option = std::string(option), .feature = std::string(name_or_number)});
}

void Table::leave_out(std::string_view name) try {
  const std::int64_t at = find(name);
  if (at < 0) return;
  Role& role = columns[static_cast<std::size_t>(at)].role;
  if (role == Role::regular) role = Role::ignore;
} catch (...) {
  rethrow_as_error();
}

std::int64_t Table::find(Role role) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].role == role) return static_cast<std::int64_t>(i);
  }
  return -1;
}

std::vector<std::int64_t> Table::features() const try {
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].role == Role::regular) indices.push_back(static_cast<std::int64_t>(i));
  }
  return indices;
} catch (...) {
  rethrow_as_error();
}

namespace {

std::int64_t value_bytes(const Column& column) {
  return std::visit([](const auto& buffer) { return static_cast<std::int64_t>(sizeof *buffer.data()); }, column.data);
}

}  // namespace

Table Table::take(const std::vector<std::int64_t>& rows, Storage storage) const try {
  check_shape(*this);
  for (const std::int64_t row : rows) {
    if (row >= 0 && row < n_rows) continue;
    throw Error(ErrorCode::invalid_argument,
                "there is no row " + std::to_string(row) + " among " + std::to_string(n_rows) + " to take", {source});
  }
  Table result;
  // A message names a row by its number in this table, which is not that of the file.
  if (!source.empty()) result.source = source + " (some of its rows)";
  result.n_rows = static_cast<std::int64_t>(rows.size());
  result.columns.reserve(columns.size());
  std::int64_t row_bytes = 0;
  for (const Column& column : columns) row_bytes += value_bytes(column);
  ColumnMemory memory(storage, result.n_rows, static_cast<std::int64_t>(columns.size()), row_bytes);
  for (const Column& column : columns) {
    Column taken{column.name, column.type, column.role, {}, column.values};
    std::visit(
        [&](const auto& from) {
          auto to = memory.take<std::decay_t<decltype(*from.data())>>();
          for (std::int64_t i = 0; i < result.n_rows; ++i) to[i] = from[rows[static_cast<std::size_t>(i)]];
          taken.data = std::move(to);
        },
        column.data);
    result.columns.push_back(std::move(taken));
  }
  return result;
} catch (...) {
  rethrow_as_error();
}

void Table::validate() const try {
  check_names(*this);
  check_shape(*this);
  for (const Column& column : columns) {
    if (column.nominal()) check_codes(column);
  }
} catch (...) {
  rethrow_as_error();
}

namespace {

// The bytes of values in memory, of values in files, and of the names of nominal values.
struct Bytes {
  std::int64_t memory = 0, file = 0;
};

Bytes bytes_of(const Table& table) {
  Bytes total;
  for (const Column& column : table.columns) {
    const bool in_file = std::visit([](const auto& buffer) { return buffer.storage() == Storage::file; }, column.data);
    (in_file ? total.file : total.memory) += checked::mul(column.size(), value_bytes(column));
    for (const std::string& value : column.values) {
      total.memory += static_cast<std::int64_t>(value.size() + sizeof(std::string));
    }
  }
  return total;
}

}  // namespace

std::int64_t Table::bytes() const {
  const Bytes total = bytes_of(*this);
  return checked::add(total.memory, total.file);
}

std::int64_t Table::bytes_in_memory() const {
  return bytes_of(*this).memory;
}

}  // namespace stope
