// Tables from memory: of an array at once, or from rows as they come.
//
//   Table t = table_of(ArrayView{x, ElementType::float32, rows, columns}, {"width", "height"});
//   TableBuilder builder(schema);  builder.append(block);  ...  Table t = builder.finish();
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stope/array.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// A table of numeric columns, one a column of the array. `names` has one name a column; if it is empty, they are x0,
/// x1, ... Columns are float32 where that holds every value of the element type (float32, int8, int16, uint8, uint16,
/// boolean), else float64. Whole numbers and booleans have ValueType::integer.
///
/// Float32 and float64 values whose rows lie side by side (row_stride 1, or a single row) are shared with an array that
/// has an owner: nothing is copied, and the table keeps the owner. Anything else is copied by all threads; beyond half
/// of the memory limit into a mapped file. A GPU's array is copied to the host first, which takes its size once more.
///
/// Throws unsupported for an int64 beyond 2^53, which no float64 is, naming row and column; invalid_argument for a
/// wrong number of names or one that repeats, and as stope/array.hpp says; device_unavailable for a GPU's array where
/// CUDA is off; out_of_memory; cancelled.
Table table_of(const ArrayView& array, const std::vector<std::string>& names = {}, const RunOptions& run = {});

/// Collects rows that come in blocks of any size, and makes a table of them. Calls must not overlap.
///
/// Numeric columns are float64. Nominal columns take the codes of the schema's values: whole numbers below their
/// number; NaN, and -1 too, is missing. Memory grows in blocks; what exceeds half of RunOptions::memory_limit lies in a
/// mapped file. Schema::missing_token has no meaning here.
class TableBuilder {
 public:
  /// Rows will have the columns of the schema, in its order. Memory for `n_rows_expected` rows is taken with the first
  /// of them, so that as many rows are never copied again; 0 = not known. Throws invalid_argument for names that repeat
  /// and a negative number, out_of_memory where the columns alone, without rows, exceed the memory limit.
  explicit TableBuilder(Schema columns, std::int64_t n_rows_expected = 0, const RunOptions& run = {});
  ~TableBuilder();
  TableBuilder(TableBuilder&&) noexcept;
  TableBuilder& operator=(TableBuilder&&) noexcept;

  /// Adds the rows of an array of any element type and any strides, in the host's memory or a GPU's; its memory is free
  /// again afterwards. Throws invalid_argument for another number of columns than the schema's and for what is no code
  /// of a nominal column, unsupported for an int64 beyond 2^53; both name column and row, counted over all blocks. A
  /// call that throws adds nothing, and the builder can be used further.
  void append(const ArrayView& rows);
  std::int64_t n_rows() const noexcept;

  /// The table of all rows so far. The builder is empty afterwards and takes rows of the same columns again. Rows that
  /// lie in one block are not copied, those of several blocks once.
  Table finish();

 private:
  class [[gnu::visibility("hidden")]] Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stope
#pragma GCC visibility pop
