// The numeric features of a table as the matrix of PCA and least squares. It holds each column's shift and factor and
// what a missing value counts as, and makes the panels and rows that products read. The matrix is never formed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "gram/cross_product.hpp"
#include "gram/rows.hpp"
#include "stope/decompose.hpp"
#include "stope/table.hpp"

namespace stope::gram {

/// The result of a pass over a column. Missing values are left out, and so are rows of weight 0.
struct ColumnSummary {
  std::int64_t n_present = 0;
  double mean = 0.0;       ///< (weighted) mean, exactly the value of a constant column
  double length = 0.0;     ///< root of the (weighted) sum of squared deviations, exactly 0 for a constant column
  double deviation = 0.0;  ///< the largest |value - mean|
};

class NumericColumns {
 public:
  NumericColumns() = default;
  /// Takes the columns with those indices from `table`, which must outlive this. Throws unsupported for a nominal one
  /// and invalid_data for an infinite value. Where missing values are errors, the first one throws invalid_data with
  /// column and row. Weights are one per row, or empty: all ones. Missing values in rows of weight 0 are no error.
  /// Shift and fill are the means, factors are ones; without summaries shift and fill are zeros.
  enum class Summaries { no, yes };
  NumericColumns(const Table& table, const std::vector<std::int64_t>& columns, MissingValues missing,
                 const std::vector<double>& row_weights, Summaries summaries, ThreadPool& pool,
                 const CancelToken& cancel);

  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_columns() const { return static_cast<std::int64_t>(columns_.size()); }
  const Column& column(std::int64_t j) const { return *columns_[static_cast<std::size_t>(j)]; }
  const std::vector<ColumnSummary>& summaries() const { return summaries_; }

  /// The matrix is (value - shift) * factor * row_factor; a missing value counts as `fill`.
  std::vector<double> shift, fill, factor;
  std::vector<double> row_factor;  ///< empty = ones

  /// Writes rows [begin, end) of column j to out[(row - begin) * stride].
  void write(std::int64_t j, std::int64_t begin, std::int64_t end, double* out, std::int64_t stride) const;
  /// Writes the stored values of rows [begin, end) of column j, neither shifted nor multiplied; a missing one is
  /// `fill`.
  void write_values(std::int64_t j, std::int64_t begin, std::int64_t end, double* out, std::int64_t stride) const;

 private:
  std::vector<const Column*> columns_;
  std::vector<ColumnSummary> summaries_;
  std::int64_t n_rows_ = 0;
};

/// The matrix as n_columns() columns of n_rows() rows, for products that sum over the table's rows.
class DownTheRows : public PanelSource {
 public:
  explicit DownTheRows(const NumericColumns& matrix) : matrix_(matrix) {}
  std::int64_t width() const override { return matrix_.n_columns(); }
  void pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const override;

 private:
  const NumericColumns& matrix_;
};

/// The transposed matrix, for products that sum over the table's columns.
class AcrossTheColumns : public PanelSource {
 public:
  explicit AcrossTheColumns(const NumericColumns& matrix) : matrix_(matrix) {}
  std::int64_t width() const override { return matrix_.n_rows(); }
  void pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const override;

 private:
  const NumericColumns& matrix_;
};

/// Makes the rows of the matrix for an operator: missing values are filled in, nothing is shifted or multiplied. The
/// operator does that with shift and factor, and never sees row_factor. Rows are written out once where copy_bytes()
/// says so.
std::shared_ptr<const RowSource> make_row_source(const NumericColumns& matrix, std::int64_t room, ThreadPool& pool,
                                                 const CancelToken& cancel);

/// Bytes of that copy, or 0 where it would take more than half of `room`.
std::int64_t copy_bytes(const NumericColumns& matrix, std::int64_t room);

}  // namespace stope::gram
