// The numeric features of a table, or of rows in memory, as the matrix of PCA and least squares. It holds each column's
// shift and factor and what a missing value counts as, and makes the panels and rows that products read. The matrix is
// never formed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "gram/column_summaries.hpp"
#include "gram/cross_product.hpp"
#include "gram/rows.hpp"
#include "stope/array.hpp"
#include "stope/decompose.hpp"
#include "stope/table.hpp"

namespace stope::gram {

/// Rows [begin, end) of n columns from `first` on.
struct Part {
  std::int64_t first, n, begin, end;
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

  /// The rows of an array where they lie, which must stay there; the columns have these names (none: x0, x1, ...).
  /// There are no row factors then, no columns, and no products of a part. Nothing where the rows are not contiguous
  /// float32 or float64 in the host's memory, or a value is missing, infinite or too large. Throws invalid_argument for
  /// another number of names and for names that repeat, and invalid_data for no rows and no columns.
  static std::optional<NumericColumns> of_rows(const ArrayView& rows, std::vector<std::string> names, ThreadPool& pool,
                                               const CancelToken& cancel);

  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_columns() const { return n_columns_; }
  const std::string& name(std::int64_t j) const { return rows_ ? names_[static_cast<std::size_t>(j)] : column(j).name; }
  /// The array, if these are its rows.
  const ArrayView* rows() const { return rows_ ? &*rows_ : nullptr; }
  const Column& column(std::int64_t j) const { return *columns_[static_cast<std::size_t>(j)]; }
  const std::vector<ColumnSummary>& summaries() const { return summaries_; }

  /// The matrix is (value - shift) * factor * row_factor; a missing value counts as `fill`.
  std::vector<double> shift, fill, factor;
  std::vector<double> row_factor;  ///< empty = ones

  /// Writes a part of the matrix with columns side by side: row r of column c to
  /// out[(r - part.begin) * stride + c - part.first].
  void write_rows(const Part& part, double* out, std::int64_t stride) const;
  /// The same with rows side by side: to out[(c - part.first) * stride + r - part.begin].
  void write_columns(const Part& part, double* out, std::int64_t stride) const;
  /// Adds the products of a part's rows with x, column after column: sums[r - part.begin] += value * x[c - part.first].
  void add_products(const Part& part, const double* x, double* sums) const;
  /// Writes rows [begin, end) of tiles [first, first + n), 16 columns each: to out[(tile - first) * tile_stride + (row
  /// - begin) * 16 + column of the tile]. Columns beyond the last are zeros.
  void write_tiles(std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end, double* out,
                   std::int64_t tile_stride) const;
  /// The stored values, neither shifted nor multiplied, with columns side by side; a missing one is `fill`.
  void write_values(const Part& part, double* out, std::int64_t stride) const;

 private:
  std::vector<const Column*> columns_;
  std::vector<ColumnSummary> summaries_;
  std::int64_t n_rows_ = 0, n_columns_ = 0;
  std::optional<ArrayView> rows_;
  std::vector<std::string> names_;  // of the columns of rows_

  void take_means();
  template <class Use>
  void for_each_run(const Part& part, const Use& use) const;
  template <class Use>
  void with_rows(const Part& part, const Use& use) const;
};

/// The matrix as n_columns() columns of n_rows() rows, for products that sum over the table's rows.
class DownTheRows : public PanelSource {
 public:
  explicit DownTheRows(const NumericColumns& matrix) : matrix_(matrix) {}
  std::int64_t width() const override { return matrix_.n_columns(); }
  void pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const override;
  void pack_tiles(std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end, double* out,
                  std::int64_t tile_stride) const override {
    matrix_.write_tiles(first, n, begin, end, out, tile_stride);
  }

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

/// Hands the products of each row with few vectors, vector v at vectors + v * n_columns(), to `store`: rows [row, row +
/// n) of vector v in `values`. It is called from several threads at once. The bits are those of for_each_block(). Takes
/// no row_factor.
void multiply_rows(
    const NumericColumns& matrix, const double* vectors, std::int64_t n_vectors, ThreadPool& pool,
    const CancelToken& cancel,
    const std::function<void(std::int64_t row, std::int64_t n, std::int64_t v, const double* values)>& store,
    PhaseProgress* progress = nullptr);

/// Up to so many vectors multiply_rows() is faster than tiles of 16 vectors.
inline constexpr std::int64_t kFewVectors = 3;

/// Makes the rows of the matrix for an operator: missing values are filled in, nothing is shifted or multiplied. The
/// operator does that with shift and factor, and never sees row_factor. Rows are written out once if `copy`, which
/// comes from copy_bytes(), is not 0. Those of an array are read where they lie.
std::shared_ptr<const RowSource> make_row_source(const NumericColumns& matrix, std::int64_t copy, ThreadPool& pool,
                                                 const CancelToken& cancel);

/// Bytes of that copy, or 0 where it would take more than half of `room` and where rows lie in an array.
std::int64_t copy_bytes(const NumericColumns& matrix, std::int64_t room);

}  // namespace stope::gram
