// Tables: typed columns with roles. Numeric columns are float64 or float32 (missing = NaN); nominal columns are int32
// codes into a list of value names (missing = kMissingCode).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stope/buffer.hpp"
#include "stope/values.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// What a column's values mean. Real, integer and date differ only in how they are written back, and so do nominal and
/// polynominal. Binominal changes RapidMiner's nominal similarities.
enum class ValueType { real, integer, date, nominal, polynominal, binominal };

/// What a column is for. Only `regular` columns are features.
enum class Role { regular, label, id, weight, ignore };

inline constexpr std::int32_t kMissingCode = -1;  ///< a missing nominal value
/// What a value becomes inside a job if the training table lacks it: it equals nothing. No table may hold it; a query
/// table names such a value in its own list.
inline constexpr std::int32_t kUnseenCode = -2;

constexpr bool is_nominal(ValueType type) {
  return type >= ValueType::nominal;
}
ValueType value_type(std::string_view name);  ///< throws invalid_argument for any other name, and so does role()
Role role(std::string_view name);
std::string_view to_string(ValueType type) noexcept;
std::string_view to_string(Role role) noexcept;

/// One column. `data` holds float64, float32 (numeric types) or int32 codes (nominal types); all columns of a table
/// have the same length. `values` names the codes 0, 1, ... of a nominal column and is empty otherwise.
struct Column {
  std::string name;
  ValueType type = ValueType::real;
  Role role = Role::regular;
  std::variant<Buffer<double>, Buffer<float>, Buffer<std::int32_t>> data;
  Values values = {};

  std::int64_t size() const;
  bool nominal() const { return is_nominal(type); }
  /// The value as a double: the number, or the nominal code; NaN if missing. An unseen code stays kUnseenCode.
  double at(std::int64_t row) const;
  bool missing(std::int64_t row) const;
  const Buffer<std::int32_t>& codes() const { return std::get<Buffer<std::int32_t>>(data); }
};

Column make_numeric(std::string name, const std::vector<double>& data, ValueType type = ValueType::real);
/// Codes index `values`; -1 is missing. Throws invalid_argument for any other code.
Column make_nominal(std::string name, const std::vector<std::int32_t>& codes, Values values,
                    ValueType type = ValueType::polynominal);
/// As above, but the column shares the buffer's memory.
Column column_of(std::string name, Buffer<double> data, ValueType type = ValueType::real);
Column column_of(std::string name, Buffer<float> data, ValueType type = ValueType::real);
Column column_of(std::string name, Buffer<std::int32_t> codes, Values values, ValueType type = ValueType::polynominal);

/// Memory that a column takes besides its values, at most: its descriptor and name, in the table and in the copies that
/// readers and jobs make of them, and the allocator's bookkeeping.
inline constexpr std::int64_t kColumnBytes = 1200;

/// A rectangular set of columns with unique names.
struct Table {
  std::vector<Column> columns;
  std::int64_t n_rows = 0;
  std::string source;  ///< file name for error messages; may be empty

  /// Index of the column of that name, or -1.
  std::int64_t find(std::string_view name) const;
  /// Index of the column of that name or, where there is none, of that number, from 1. Throws invalid_data that says
  /// which `option` asked for it and which name is nearest.
  std::int64_t find(std::string_view name_or_number, std::string_view option) const;
  /// Index of the first column with that role, or -1.
  std::int64_t find(Role role) const;
  /// Indices of the regular columns, in order: the features.
  std::vector<std::int64_t> features() const;
  /// Takes a feature out of the features: it becomes Role::ignore. Any other column stays, and so does the table where
  /// it has no such column.
  void leave_out(std::string_view name);
  /// A table of the given rows, in that order; value lists are kept. Throws invalid_argument for a row that is not
  /// there. O(rows x columns).
  Table take(const std::vector<std::int64_t>& rows, Storage storage = Storage::memory) const;
  /// Throws invalid_argument if names repeat, lengths differ, a type and its storage disagree, or a nominal column has
  /// a code outside its values (kMissingCode is inside, kUnseenCode is not); the message names column and row. One pass
  /// over the codes.
  void validate() const;
  std::int64_t bytes() const;
  /// The part of bytes() that is not in a mapped file (stope/buffer.hpp).
  std::int64_t bytes_in_memory() const;
};

/// How one column of a file is to be read. An empty `values` lets the reader collect them.
struct ColumnSpec {
  std::string name;
  ValueType type = ValueType::real;
  Role role = Role::regular;
  Values values = {};
};

/// The columns in file order, as a schema file gives them (docs/FORMATS.md).
struct Schema {
  std::vector<ColumnSpec> columns;
  std::optional<std::string> missing_token;  ///< replaces the default tokens (an empty field is always missing)
};

}  // namespace stope
#pragma GCC visibility pop
