// Roles, declared types and schemas: laid over a table whatever format it came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/io.hpp"

namespace stope::io {

/// Whether a table's column names were given by somebody (a header, --names, ARFF) or are just positions.
enum class Names { given, positions };

/// Index of the column that `text` stands for: the name, else the 1-based number. Throws invalid_file naming `option`
/// and the nearest name. `source` is the file, for the message.
std::int64_t resolve_column(const std::vector<std::string>& names, const std::string& text, std::string_view option,
                            const std::string& source);

/// For each column the index of its schema column: by name where names are given (the same set, any order), else by
/// position. Throws invalid_file where they do not match.
std::vector<std::int64_t> match_schema(const std::vector<std::string>& names, Names kind, const Schema& schema,
                                       const std::string& source);

/// Throws invalid_argument if `names` has not `n_columns` entries or repeats one.
void check_names(const std::vector<std::string>& names, std::int64_t n_columns);

/// Gives `table` the names, types, value lists and roles of the options and the schema (nullptr = none); options win
/// over the schema. A numeric column declared nominal gets its numbers' texts as values ("3", "0.5"); a nominal one
/// declared numeric has its values parsed. Throws invalid_file (unknown column, a value that does not fit),
/// invalid_argument (contradictory options). Does nothing to what is already as declared.
void apply_roles(Table& table, const ReadOptions& options, const Schema* schema, Names kind);

}  // namespace stope::io
