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

namespace stope {

/// What a column's values mean. Real, integer and date differ only in how they are written back, and so do nominal and
/// polynominal. Binominal changes RapidMiner's nominal similarities.
enum class ValueType { real, integer, date, nominal, polynominal, binominal };

/// What a column is for. Only `regular` columns are features.
enum class Role { regular, label, id, weight, ignore };

inline constexpr std::int32_t kMissingCode = -1;  ///< a missing nominal value
inline constexpr std::int32_t kUnseenCode = -2;   ///< a value that the training table lacks: it equals nothing

constexpr bool is_nominal(ValueType type) {
  return type >= ValueType::nominal;
}
std::string_view to_string(ValueType type) noexcept;
std::string_view to_string(Role role) noexcept;

/// One column. `data` holds float64, float32 (numeric types) or int32 codes (nominal types); all columns of a table
/// have the same length. `values` names the codes 0, 1, ... of a nominal column and is empty otherwise.
struct Column {
  std::string name;
  ValueType type = ValueType::real;
  Role role = Role::regular;
  std::variant<Buffer<double>, Buffer<float>, Buffer<std::int32_t>> data;
  std::vector<std::string> values;

  std::int64_t size() const;
  bool nominal() const { return is_nominal(type); }
  /// The value as a double: the number, or the nominal code; NaN if missing. An unseen code stays kUnseenCode.
  double at(std::int64_t row) const;
  bool missing(std::int64_t row) const;
  const Buffer<std::int32_t>& codes() const { return std::get<Buffer<std::int32_t>>(data); }
};

Column make_numeric(std::string name, const std::vector<double>& data, ValueType type = ValueType::real);
/// Codes index `values`; -1 is missing. Throws invalid_argument for any other code.
Column make_nominal(std::string name, const std::vector<std::int32_t>& codes, std::vector<std::string> values,
                    ValueType type = ValueType::polynominal);

/// A rectangular set of columns with unique names.
struct Table {
  std::vector<Column> columns;
  std::int64_t n_rows = 0;
  std::string source;  ///< file name for error messages; may be empty

  /// Index of the column of that name, or -1.
  std::int64_t find(std::string_view name) const;
  /// Index of the first column with that role, or -1.
  std::int64_t find(Role role) const;
  /// Indices of the regular columns, in order: the features.
  std::vector<std::int64_t> features() const;
  /// A table of the given rows, in that order; value lists are kept. O(rows x columns).
  Table take(const std::vector<std::int64_t>& rows, Storage storage = Storage::memory) const;
  /// Throws invalid_argument if names repeat, lengths differ or a type and its storage disagree.
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
  std::vector<std::string> values;
};

/// The columns in file order, as a schema file gives them (docs/FORMATS.md).
struct Schema {
  std::vector<ColumnSpec> columns;
  std::optional<std::string> missing_token;  ///< replaces the default tokens (an empty field is always missing)
};

}  // namespace stope
