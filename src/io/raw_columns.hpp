// Turns arrays of numbers, stored by row or by column, into the numeric columns of a table. NPY, fvecs and raw share
// it.
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
/// strides need not be multiples of the element size (a length precedes each fvecs row).
struct ArrayView {
  const char* data = nullptr;
  ArrayType type = ArrayType::float32;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// Makes the table of an array: columns "1", "2", ... Types whose values all fit float32 become float32, the others
/// float64. Whole-number types are ValueType::integer. Values that exceed half of the budget go to a mapped file. The
/// caller has compared the sizes with the bytes of `file`, whose name stands in messages and Table::source. Throws
/// unsupported for an int64 beyond 2^53, naming row and column: rounding an identifier would be a lie.
Table table_of(const ArrayView& array, const Bytes& file, const RunOptions& run);

/// The bytes that a table read from `file` may take: the memory budget less the memory that holds the file.
std::int64_t table_budget(const Bytes& file, const RunOptions& run);
/// Throws out_of_memory, naming the file, the bytes and the limit, unless `bytes` fit that budget.
void require_memory(std::int64_t bytes, const Bytes& file, const RunOptions& run);

}  // namespace stope::io
