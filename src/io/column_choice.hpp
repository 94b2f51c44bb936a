// Which columns the lists of the reading options name: by name, number, pattern or range of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/io.hpp"

namespace stope::io {

class ColumnNames;

/// Indices of columns, in the order in which the options name them, without repetition.
struct ColumnChoice {
  std::vector<std::int64_t> ignore;  ///< with those that `select` leaves out
  std::vector<std::int64_t> nominal, numeric, date;
};

/// What the options choose among a table's columns. A pattern yields to what names a column itself. Throws invalid_data
/// for an entry that names no column (but not under UnknownColumns::skip), with the nearest name, and invalid_argument
/// where two options name one column and contradict each other.
ColumnChoice choose_columns(const ColumnNames& names, const ReadOptions& options);

/// Whether * (any text) and ? (one character) of `pattern` can be filled so that it becomes `name`. Takes at most
/// O(pattern x name) steps.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace stope::io
