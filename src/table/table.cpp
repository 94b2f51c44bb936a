// Column and Table: access, construction, validation (stope/table.hpp).
#include "stope/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_set>

#include "base/checked.hpp"
#include "stope/error.hpp"

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

Table Table::take(const std::vector<std::int64_t>& rows) const {
  Table result;
  result.source = source;
  result.n_rows = static_cast<std::int64_t>(rows.size());
  result.columns.reserve(columns.size());
  for (const Column& column : columns) {
    Column taken{column.name, column.type, column.role, {}, column.values};
    std::visit(
        [&](const auto& from) {
          std::decay_t<decltype(from)> to(result.n_rows);
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

std::int64_t Table::bytes() const {
  std::int64_t total = 0;
  for (const Column& column : columns) {
    std::visit(
        [&](const auto& buffer) {
          total += checked::mul(buffer.size(), static_cast<std::int64_t>(sizeof *buffer.data()));
        },
        column.data);
    for (const std::string& value : column.values)
      total += static_cast<std::int64_t>(value.size() + sizeof(std::string));
  }
  return total;
}

}  // namespace stope
