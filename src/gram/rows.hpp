// Where the rows of a matrix come from: memory, columns of a table, a file. Operators read them in pieces, from several
// threads at once.
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

  /// Whether rows() returns rows where they lie: then they never use the scratch memory, and stay where they are as
  /// long as the source lives.
  virtual bool in_place() const = 0;
  /// Elements from one row to the next in what rows() returns.
  virtual std::int64_t row_stride() const = 0;
  /// The rows [first, first + n) as elements of dtype(): where they lie, or written to `scratch`, which holds
  /// n * row_stride() elements. Called from several threads at once. Throws what reading them can throw.
  virtual const void* rows(std::int64_t first, std::int64_t n, void* scratch) const = 0;
};

/// The rows of a matrix in memory; throws invalid_argument for one that is none (no rows or columns, a stride shorter
/// than a row, no values).
std::shared_ptr<const RowSource> make_row_source(const MatrixView& matrix);

}  // namespace stope::gram
