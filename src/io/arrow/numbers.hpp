// Numeric columns from Arrow: numbers, dates and decimals of any width, as float64 or float32.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/arrow/chunk.hpp"
#include "stope/table.hpp"

namespace stope::io::arrow {

/// Some rows of a column: the rows [first, last) of a chunk, whose row 0 is row `row0` of the column.
struct Rows {
  const Chunk* chunk;
  std::int64_t row0, first, last;
};

/// Writes these rows into a numeric column, whose buffer is float32 for narrow types and else float64. Nulls become
/// NaN. Throws unsupported, with column and row, for a number without an exact double.
void copy_numbers(const Field& field, const Rows& rows, Column& column);

}  // namespace stope::io::arrow
