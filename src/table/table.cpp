// Column and Table: access, construction, validation (stope/table.hpp).
#include "stope/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_set>

#include "base/checked.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope {

std::string_view to_string(ValueType type) noexcept {
  switch (type) {
    case ValueType::real: return "real";
    case ValueType::integer: return "integer";
    case ValueType::date: return "date";
    case ValueType::nominal: return "nominal";
    case ValueType::polynominal: return "polynominal";
    case ValueType::binominal: break;
  }
  return "binominal";
}

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::regular: return "regular";
    case Role::label: return "label";
    case Role::id: return "id";
    case Role::weight: return "weight";
    case Role::ignore: break;
  }
  return "ignore";
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

Column make_numeric(std::string name, const std::vector<double>& data, ValueType type) {
  Buffer<double> buffer(static_cast<std::int64_t>(data.size()));
  std::copy(data.begin(), data.end(), buffer.begin());
  return {std::move(name), type, Role::regular, std::move(buffer), {}};
}

Column make_nominal(std::string name, const std::vector<std::int32_t>& codes, std::vector<std::string> values,
                    ValueType type) {
  Buffer<std::int32_t> buffer(static_cast<std::int64_t>(codes.size()));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::int32_t code = codes[i];
    if (code < kMissingCode || code >= static_cast<std::int64_t>(values.size())) {
      throw Error(ErrorCode::invalid_argument, "column '" + name + "', row " + std::to_string(i) + ": code " +
                                                   std::to_string(code) + " is outside its " +
                                                   std::to_string(values.size()) + " values");
    }
    buffer[static_cast<std::int64_t>(i)] = code;
  }
  return {std::move(name), type, Role::regular, std::move(buffer), std::move(values)};
}

std::int64_t Table::find(std::string_view name) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<std::int64_t>(i);
  }
  return -1;
}

std::int64_t Table::find(Role role) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].role == role) return static_cast<std::int64_t>(i);
  }
  return -1;
}

std::vector<std::int64_t> Table::features() const {
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].role == Role::regular) indices.push_back(static_cast<std::int64_t>(i));
  }
  return indices;
}

namespace {

std::int64_t value_bytes(const Column& column) {
  return std::visit([](const auto& buffer) { return static_cast<std::int64_t>(sizeof *buffer.data()); }, column.data);
}

}  // namespace

Table Table::take(const std::vector<std::int64_t>& rows, Storage storage) const {
  Table result;
  result.source = source;
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
}

void Table::validate() const {
  std::unordered_set<std::string_view> names;
  for (const Column& column : columns) {
    if (!names.insert(column.name).second) {
      throw Error(ErrorCode::invalid_argument, "two columns are named '" + column.name + "'");
    }
    if (column.size() != n_rows) {
      throw Error(ErrorCode::invalid_argument, "column '" + column.name + "' has " + std::to_string(column.size()) +
                                                   " rows, the table " + std::to_string(n_rows));
    }
    if (column.nominal() != std::holds_alternative<Buffer<std::int32_t>>(column.data)) {
      throw Error(ErrorCode::invalid_argument, "column '" + column.name + "': its type " +
                                                   std::string(to_string(column.type)) + " does not fit its storage");
    }
  }
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
