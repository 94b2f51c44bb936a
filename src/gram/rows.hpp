// Where the rows of a matrix come from: memory, columns of a table, a file. Operators read them in portions, from
// several threads at once.
#pragma once

#include <cstdint>
#include <memory>

#include "stope/array.hpp"
#include "stope/run.hpp"

namespace stope::gram {

class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual std::int64_t n_rows() const = 0;
  virtual std::int64_t n_columns() const = 0;
  virtual ElementType dtype() const = 0;  ///< float32 or float64

  /// Whether rows() returns rows where they lie. If so, rows() never uses the scratch memory, and the rows stay there
  /// as long as the source lives.
  virtual bool in_place() const = 0;
  /// Elements from one row to the next in the result of rows().
  virtual std::int64_t row_stride() const = 0;
  /// Returns the rows [first, first + n) as elements of dtype(). It returns them where they lie, or writes them to
  /// `scratch`, which holds n * row_stride() elements. It is called from several threads at once, and throws read
  /// errors.
  virtual const void* rows(std::int64_t first, std::int64_t n, void* scratch) const = 0;

  /// Whether the matrix lies by columns, so that block() reads little more than it returns.
  virtual bool has_blocks() const { return false; }
  /// Writes columns [column, column + width) of the rows [first, first + n) to `out`, `stride` elements from one row to
  /// the next. It is only called where has_blocks(), from several threads at once.
  virtual void block(std::int64_t /*first*/, std::int64_t /*n*/, std::int64_t /*column*/, std::int64_t /*width*/,
                     void* /*out*/, std::int64_t /*stride*/) const {}
};

/// How long a matrix in memory is read: during the call that it is handed to, or afterwards, too.
enum class Reads { during_call, afterwards };

/// Makes a source of the rows of a matrix in memory, as GramOperator says (stope/gram.hpp). What is read afterwards is
/// copied unless it has an owner; what is not row-major is always copied.
std::shared_ptr<const RowSource> make_row_source(const ArrayView& matrix, Reads reads, const RunOptions& run);

}  // namespace stope::gram
