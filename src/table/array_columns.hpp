// The values of an array become columns, by a blocked transposition. The readers of array files, table_of() and
// TableBuilder share it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "stope/array.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope {

/// Where the values of one column go. Codes are checked: whole numbers below `n_values`; NaN and -1 are missing.
struct ColumnTarget {
  std::variant<double*, float*, std::int32_t*> values;
  std::int64_t n_values = 0;  ///< codes only
};

/// What an error says about the array.
struct ArrayOrigin {
  std::string source;                             ///< what messages begin with: a file, or nothing
  std::function<std::string(std::int64_t)> name;  ///< of a column
  std::int64_t first_row = 0;                     ///< how many rows went before row 0 of the array
};

/// Writes row r of the array to entry begin + r of the targets, one a column. The data need not be aligned. Throws
/// unsupported for an int64 beyond 2^53, since rounding an identifier would be a lie, and invalid_argument for what is
/// not a code; both name row and column. Threads start for a million values and more.
void move_columns(const ArrayView& array, const std::vector<ColumnTarget>& targets, std::int64_t begin,
                  const ArrayOrigin& origin, const RunOptions& run);

/// Makes a table of numeric columns. Types whose values all fit float32 become float32, the others float64.
/// Whole-number types are ValueType::integer. Values that exceed half of the budget go to a mapped file. The row stride
/// is that of the array, never 0. Throws out_of_memory where the columns alone, without values, exceed the budget.
Table numeric_table(const ArrayView& array, const ArrayOrigin& origin, std::int64_t budget, const RunOptions& run);

/// Throws out_of_memory, naming the bytes and the budget, unless they fit.
void require_memory(std::int64_t bytes, std::int64_t budget, const std::string& source);

}  // namespace stope
