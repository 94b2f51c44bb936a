// Columns from an ArrowSchema: names, types, and the roles that export_arrow leaves in metadata.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/arrow/type.hpp"
#include "stope/arrow.hpp"

namespace stope::io::arrow {

// Keys of a field's metadata. Values are the names of roles and of types, as in schema files.
inline constexpr const char* kRoleKey = "stope.role";
inline constexpr const char* kTypeKey = "stope.type";
// Parquet keeps no value that no row has, and those of others in the order in which they come. Where a dictionary says
// more, one of these tells it: a JSON list of all values, or the word "sorted".
inline constexpr const char* kValuesKey = "stope.values";
inline constexpr const char* kOrderKey = "stope.order";

/// One column of a schema.
struct Field {
  std::string name;
  std::string source;         ///< what messages call the data
  Type type;                  ///< of the values; with a dictionary, of its values
  std::optional<Type> codes;  ///< of the indices into a dictionary
  ValueType value_type = ValueType::real;
  Role role = Role::regular;
  std::optional<std::vector<std::string>> values = {};  ///< by kValuesKey
  bool sorted_values = false;                           ///< by kOrderKey

  bool nominal() const { return is_nominal(value_type); }
  /// How a message begins: "column 'x'", "column 'x', row 3".
  std::string where(std::int64_t row = -1) const;
  Place place(std::int64_t row = -1) const { return {.file = source, .feature = name, .row = row}; }
  /// Throws about this column, and about a row (from 0) unless that is -1.
  [[noreturn]] void refuse(const std::string& what, std::int64_t row = -1) const;
  /// Throws unsupported: a table cannot hold this column, and may be read without it.
  [[noreturn]] void refuse_to_hold(const std::string& what, std::int64_t row = -1) const;
};

/// Checks a schema and reads its columns. An empty name becomes the column's number, counted from 1, as in CSV headers.
/// Throws as import_arrow does. `source` stands in messages.
std::vector<Field> fields_of(const ArrowSchema& schema, const std::string& source);

/// The metadata of a field, which may be null, with one more entry.
std::string with_entry(const char* metadata, const std::string& key, const std::string& value);

/// The metadata of a field in the interface's binary form.
std::string encode_metadata(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace stope::io::arrow
