// Roles, declared types and schemas, applied to a table of any format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_index.hpp"
#include "stope/io.hpp"

namespace stope::io {

/// Whether a table's column names were given by somebody (a header, --names, ARFF) or are just positions.
enum class Names { given, positions };

/// The columns of a table by name, else by 1-based number: how options refer to them.
class ColumnNames {
 public:
  /// `source` is the file, for messages. Under UnknownColumns::skip only names count: numbers would be those of another
  /// table.
  ColumnNames(std::vector<std::string> names, UnknownColumns unknown, const std::string& source);

  /// The column's index. Where there is none: -1 under UnknownColumns::skip, else it throws invalid_data naming
  /// `option` and the nearest name.
  std::int64_t find(const std::string& text, std::string_view option) const;

  /// Whether a column has that name.
  bool has(std::string_view name) const { return index_of(name) >= 0; }
  /// The index of the column of that name, or -1.
  std::int64_t index_of(std::string_view name) const;
  const std::vector<std::string>& names() const { return names_; }
  UnknownColumns unknown() const { return unknown_; }
  const std::string& source() const { return source_; }

 private:
  std::vector<std::string> names_;
  // The first question makes it: most tables are read without any, and some have millions of columns.
  mutable NameIndex index_;
  UnknownColumns unknown_;
  std::string source_;
};

/// Whether the options name any column.
bool names_columns(const ReadOptions& options);

/// The label's name: the target that was asked for, else the schema's label, else empty.
std::string target_name(const ReadOptions& options, const Schema* schema);

/// For each column the index of its schema column. Given names are matched by name: both sets must be equal, in any
/// order (under UnknownColumns::skip the file may lack some). Otherwise positions are matched. Throws invalid_data if
/// they do not match.
std::vector<std::int64_t> match_schema(const std::vector<std::string>& names, Names kind, const Schema& schema,
                                       UnknownColumns unknown, const std::string& source);

/// Throws invalid_argument if `names` has not `n_columns` entries or repeats one.
void check_names(const std::vector<std::string>& names, std::int64_t n_columns);

/// Gives `table` the names, types, value lists and roles of the options and the schema (nullptr = none); options win
/// over the schema. A numeric column declared nominal gets its numbers' texts as values ("3", "0.5"); a nominal one
/// declared numeric has its values parsed. Throws invalid_data (unknown column, a value that does not fit),
/// invalid_argument (contradictory options). Columns that are already as declared stay untouched.
/// Within the memory budget of `run`, of which the input and its table hold `held` bytes; throws out_of_memory beyond
/// it.
void apply_roles(Table& table, const ReadOptions& options, const Schema* schema, Names kind, const RunOptions& run,
                 std::int64_t held);

}  // namespace stope::io
