// What is checked of a table before a job reads it. Tables come from outside, and whoever indexes by a row or a code
// relies on these checks. Every public way into a job makes them once; docs/ARCHITECTURE.md says where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stope/table.hpp"

namespace stope {

/// Throws invalid_argument naming the column if its length is not the table's, if it has no memory, or if its type and
/// its storage disagree. O(columns).
void check_shape(const Table& table);

/// Throws invalid_argument if two columns have one name: other tables are matched by it. O(columns).
void check_names(const Table& table);
void check_names(const std::vector<std::string>& names);
[[noreturn]] void refuse_repeated_name(const Column& column);

/// Throws invalid_argument naming column and row for a code of rows [begin, end) that is neither kMissingCode nor the
/// code of a value. As fast as memory is read. A job that reads a column once, in order, checks it piece by piece.
void check_codes(const Column& column, std::int64_t begin, std::int64_t end);
inline void check_codes(const Column& column) {
  check_codes(column, 0, column.size());
}

}  // namespace stope
