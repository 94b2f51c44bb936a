// Arrays of numbers, row by row or column by column, as the numeric columns of a table: what NPY, fvecs and raw share.
#pragma once

#include <cstdint>

#include "io/bytes.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io {

/// Element types of arrays in files, little-endian.
enum class ArrayType { float32, float64, int8, int16, int32, int64, uint8, uint16, uint32 };

std::int64_t bytes_of(ArrayType type);

/// Where the elements are: element (row, column) lies at data[row * row_stride + column * column_stride] bytes. Row
/// strides need not be multiples of the element size (fvecs rows carry a length in front).
struct ArrayView {
  const char* data = nullptr;
  ArrayType type = ArrayType::float32;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// The table of an array: columns "1", "2", ... A type whose every value is a float32 stays float32, the others become
/// float64; whole-number types are ValueType::integer. Throws unsupported for an int64 beyond 2^53, naming row and
/// column (rounding an identifier would be a lie). Values that exceed half of the budget go to a mapped file.
/// The caller has compared the sizes with the bytes of `file`, whose name stands in messages and Table::source.
Table table_of(const ArrayView& array, const Bytes& file, const RunOptions& run);

/// What a table read from `file` may take: the memory budget less what the file's own bytes hold of it.
std::int64_t table_budget(const Bytes& file, const RunOptions& run);
/// Throws out_of_memory, naming the file, the bytes and the limit, unless `bytes` fit that budget.
void require_memory(std::int64_t bytes, const Bytes& file, const RunOptions& run);

}  // namespace stope::io
