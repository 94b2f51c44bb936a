// Where the rows of a matrix come from: memory, columns of a table, a file. Operators read them in portions, from
// several threads at once.
#pragma once

#include <cstdint>
#include <memory>

#include "stope/gram.hpp"

namespace stope::gram {

constexpr std::int64_t bytes_of(Dtype dtype) {
  return dtype == Dtype::float32 ? 4 : 8;
}

class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual std::int64_t n_rows() const = 0;
  virtual std::int64_t n_columns() const = 0;
  virtual Dtype dtype() const = 0;

  /// Whether rows() returns rows where they lie. If so, rows() never uses the scratch memory, and the rows stay there
  /// as long as the source lives.
  virtual bool in_place() const = 0;
  /// Elements from one row to the next in the result of rows().
  virtual std::int64_t row_stride() const = 0;
  /// Returns the rows [first, first + n) as elements of dtype(). It returns them where they lie, or writes them to
  /// `scratch`, which holds n * row_stride() elements. It is called from several threads at once, and throws read
  /// errors.
  virtual const void* rows(std::int64_t first, std::int64_t n, void* scratch) const = 0;
};

/// Makes a source of the rows of a matrix in memory. Throws invalid_argument for one without rows, columns or values,
/// or with a stride shorter than a row.
std::shared_ptr<const RowSource> make_row_source(const MatrixView& matrix);

}  // namespace stope::gram
