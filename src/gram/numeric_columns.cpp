#include "gram/numeric_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/array.hpp"
#include "base/checked.hpp"
#include "base/row_sums.hpp"
#include "gram/column_kernels.hpp"
#include "gram/row_kernels.hpp"
#include "gram/row_summaries.hpp"
#include "stope/error.hpp"
#include "table/check_table.hpp"
#include "table/column_error.hpp"

namespace stope::gram {
namespace {

struct Weights {
  const double* values;
  double of(std::int64_t row) const { return values == nullptr ? 1.0 : values[row]; }
};

// Whether all values are present, finite and counted: then there is nothing more to check.
bool is_complete(const ColumnSummary& summary, std::int64_t n) {
  return summary.n_present == n && std::isfinite(summary.low) && std::isfinite(summary.high);
}

template <class T>
void check_values(const Table& table, const Column& column, const T* values, std::int64_t n, MissingValues missing,
                  Weights weights) {
  for (std::int64_t row = 0; row < n; ++row) {
    const auto v = static_cast<double>(values[row]);
    if (std::fabs(v) <= std::numeric_limits<double>::max()) continue;
    if (std::isnan(v) && (missing == MissingValues::mean || weights.of(row) == 0.0)) continue;
    if (!std::isnan(v)) throw column_error(ErrorCode::invalid_data, table, column, ": an infinite value", row);
    throw column_error(ErrorCode::invalid_data, table, column,
                       ": a missing value; leave the column out, or let missing values count as their column's mean",
                       row, "missing");
  }
}

// Calls `use` with the column's numbers as doubles or floats.
template <class Use>
void with_numbers(const Column& column, const Use& use) {
  if (const auto* doubles = std::get_if<Buffer<double>>(&column.data)) return use(doubles->data());
  use(std::get<Buffer<float>>(column.data).data());
}

// Rows begin with a cache line, and 64 neighbours fall into different sets of the cache.
std::int64_t stride_of(std::int64_t n_columns) {
  constexpr std::int64_t kLine = 8;
  const std::int64_t padded = checked::ceil_div(n_columns, kLine) * kLine;
  return padded % (8 * kLine) == 0 ? padded + kLine : padded;
}

class MatrixRows : public RowSource {
 public:
  explicit MatrixRows(const NumericColumns& matrix) : matrix_(matrix), stride_(stride_of(matrix.n_columns())) {}
  std::int64_t n_rows() const override { return matrix_.n_rows(); }
  std::int64_t n_columns() const override { return matrix_.n_columns(); }
  ElementType dtype() const override { return ElementType::float64; }
  bool in_place() const override { return false; }
  std::int64_t row_stride() const override { return stride_; }

  const void* rows(std::int64_t first, std::int64_t n, void* scratch) const override {
    // Rows are written in strips: the part of the output that a strip fills stays in the cache.
    constexpr std::int64_t kStrip = 64;
    auto* const out = static_cast<double*>(scratch);
    for (std::int64_t strip = first; strip < first + n; strip += kStrip) {
      const Part part{0, n_columns(), strip, std::min(strip + kStrip, first + n)};
      matrix_.write_values(part, out + (strip - first) * stride_, stride_);
    }
    return out;
  }
  bool has_blocks() const override { return true; }
  void block(std::int64_t first, std::int64_t n, std::int64_t column, std::int64_t width, void* out,
             std::int64_t stride) const override {
    matrix_.write_values({column, width, first, first + n}, static_cast<double*>(out), stride);
  }

 protected:
  std::int64_t stride() const { return stride_; }

 private:
  const NumericColumns& matrix_;
  const std::int64_t stride_;
};

// The rows, written out once. Columns of a table lie far apart, and gathering a row of them takes longer than
// multiplying it.
class CopiedRows : public MatrixRows {
 public:
  CopiedRows(const NumericColumns& matrix, ThreadPool& pool, const CancelToken& cancel)
      : MatrixRows(matrix), values_(checked::mul(matrix.n_rows(), stride())) {
    constexpr std::int64_t kRows = 64;
    pool.parallel_for(checked::ceil_div(n_rows(), kRows), cancel, [&](std::int64_t task, int) {
      const std::int64_t first = task * kRows;
      MatrixRows::rows(first, std::min(kRows, n_rows() - first), values_.data() + first * stride());
    });
  }
  bool in_place() const override { return true; }
  bool has_blocks() const override { return false; }
  const void* rows(std::int64_t first, std::int64_t, void*) const override { return values_.data() + first * stride(); }

 private:
  Buffer<double> values_;
};

}  // namespace

NumericColumns::NumericColumns(const Table& table, const std::vector<std::int64_t>& columns, MissingValues missing,
                               const std::vector<double>& row_weights, Summaries summaries, ThreadPool& pool,
                               const CancelToken& cancel)
    : n_rows_(table.n_rows), n_columns_(std::ssize(columns)) {
  for (const std::int64_t index : columns) {
    const Column& column = table.columns[static_cast<std::size_t>(index)];
    if (column.nominal()) {
      throw column_error(ErrorCode::unsupported, table, column,
                         " is nominal: leave it out, or use the numeric attributes only", -1, "nominal");
    }
    columns_.push_back(&column);
  }
  ColumnSummaries found(columns_, n_rows_, row_weights, pool, cancel);
  const Weights weights{row_weights.empty() ? nullptr : row_weights.data()};
  pool.parallel_for(n_columns(), cancel, [&](std::int64_t j, int) {
    if (is_complete(found.extents()[static_cast<std::size_t>(j)], n_rows_)) return;
    with_numbers(column(j),
                 [&](const auto* values) { check_values(table, column(j), values, n_rows_, missing, weights); });
  });
  if (summaries == Summaries::yes) found.measure();
  summaries_ = found.take();
  for (std::int64_t j = 0; j < n_columns(); ++j) {
    const ColumnSummary& summary = summaries_[static_cast<std::size_t>(j)];
    if (std::isfinite(summary.mean) && std::isfinite(summary.deviation)) continue;
    throw column_error(ErrorCode::invalid_data, table, column(j),
                       ": its values are too large (a sum or difference overflows)");
  }
  take_means();
}

std::optional<NumericColumns> NumericColumns::of_rows(const ArrayView& rows, std::vector<std::string> names,
                                                      ThreadPool& pool, const CancelToken& cancel) {
  const ArrayView array = checked_array(rows, "the rows");
  if (!names.empty() && std::ssize(names) != array.n_columns) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(names.size()) + " names for " + std::to_string(array.n_columns) + " columns");
  }
  if (array.n_columns == 0) throw Error(ErrorCode::invalid_data, "no numeric features");
  if (array.n_rows == 0) throw Error(ErrorCode::invalid_data, "no rows");
  const bool in_place = !is_integer(array.type) && array.gpu < 0 && array.column_stride == 1 &&
                        (array.row_stride >= array.n_columns || array.n_rows == 1);
  if (!in_place) return std::nullopt;
  if (names.empty()) {
    names.reserve(static_cast<std::size_t>(array.n_columns));
    for (std::int64_t j = 0; j < array.n_columns; ++j) names.push_back("x" + std::to_string(j));
  } else {
    check_names(names);
  }
  std::optional<std::vector<ColumnSummary>> summaries = summaries_of_rows(array, pool, cancel);
  if (!summaries) return std::nullopt;
  NumericColumns matrix;
  matrix.summaries_ = std::move(*summaries);
  matrix.n_rows_ = array.n_rows;
  matrix.n_columns_ = array.n_columns;
  matrix.rows_ = array;
  matrix.names_ = std::move(names);
  matrix.take_means();
  return matrix;
}

void NumericColumns::take_means() {
  shift.reserve(summaries_.size());
  for (const ColumnSummary& summary : summaries_) shift.push_back(summary.mean);
  fill = shift;
  factor.assign(summaries_.size(), 1.0);
}

namespace {

constexpr std::int64_t kRun = 16;  // columns that a kernel is handed at a time

// The terms of some columns.
struct RunTerms {
  double minus[kRun], times[kRun], missing[kRun];
  Terms terms() const { return {minus, times, missing}; }
};

RunTerms terms_of(const NumericColumns& matrix, std::int64_t j, std::int64_t n) {
  RunTerms terms;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(j + i);
    terms.minus[i] = matrix.shift[at];
    terms.times[i] = matrix.factor[at];
    terms.missing[i] = (matrix.fill[at] - matrix.shift[at]) * matrix.factor[at];
  }
  return terms;
}

template <class T>
const ColumnKernelsOf<T>& kernels_of(const T* const*) {
  return column_kernels().of<T>();
}

}  // namespace

// Calls use(columns, j, n) for runs of at most kRun columns of one type.
template <class Use>
void NumericColumns::for_each_run(const Part& part, const Use& use) const {
  const std::int64_t last = part.first + part.n;
  std::int64_t j = part.first;
  while (j < last) {
    with_numbers(column(j), [&](const auto* values) {
      using T = std::remove_cvref_t<decltype(*values)>;
      const T* run[kRun];
      std::int64_t n = 0;
      for (; n < kRun && j + n < last; ++n) {
        const auto* const numbers = std::get_if<Buffer<T>>(&column(j + n).data);
        if (numbers == nullptr) break;
        run[n] = numbers->data();
      }
      use(run, j, n);
      j += n;
    });
  }
}

// Calls use(kernels, block, moves) with a part of the rows of an array.
template <class Use>
void NumericColumns::with_rows(const Part& part, const Use& use) const {
  const auto hand = [&](auto type) {
    using T = decltype(type);
    const T* const first = static_cast<const T*>(rows_->data) + part.begin * rows_->row_stride + part.first;
    use(row_kernels().of<T>(), RowBlock<T>{first, rows_->row_stride, part.end - part.begin, part.n},
        Moves{shift.data() + part.first, factor.data() + part.first});
  };
  if (rows_ && rows_->type == ElementType::float32) return hand(float{});
  if (rows_) hand(double{});
}

void NumericColumns::write_tiles(std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end, double* out,
                                 std::int64_t tile_stride) const {
  if (rows_) {
    const std::int64_t column = first * kTile, width = std::min(n * kTile, n_columns_ - column);
    return with_rows({column, width, begin, end}, [&](const auto& kernels, const auto& rows, const Moves& moves) {
      kernels.tiles(rows, moves, out, tile_stride);
    });
  }
  for (std::int64_t tile = first; tile < first + n; ++tile, out += tile_stride) {
    const std::int64_t column = tile * kTile, width = std::min(kTile, n_columns_ - column);
    if (width < kTile) std::fill(out, out + (end - begin) * kTile, 0.0);
    write_rows({column, width, begin, end}, out, kTile);
  }
}

void NumericColumns::write_rows(const Part& part, double* out, std::int64_t stride) const {
  if (rows_) {
    return with_rows(part, [&](const auto& kernels, const auto& rows, const Moves& moves) {
      kernels.by_rows(rows, moves, out, stride);
    });
  }
  for_each_run(part, [&](const auto& run, std::int64_t j, std::int64_t n) {
    const RunTerms terms = terms_of(*this, j, n);
    kernels_of(run).by_rows(run, n, part.begin, part.end, terms.terms(),
                            row_factor.empty() ? nullptr : row_factor.data(), out + j - part.first, stride);
  });
}

void NumericColumns::write_columns(const Part& part, double* out, std::int64_t stride) const {
  if (rows_) {
    return with_rows(part, [&](const auto& kernels, const auto& rows, const Moves& moves) {
      kernels.by_columns(rows, moves, out, stride);
    });
  }
  for_each_run(part, [&](const auto& run, std::int64_t j, std::int64_t n) {
    const RunTerms terms = terms_of(*this, j, n);
    kernels_of(run).by_columns(run, n, part.begin, part.end, terms.terms(),
                               row_factor.empty() ? nullptr : row_factor.data(), out + (j - part.first) * stride,
                               stride);
  });
}

void NumericColumns::add_products(const Part& part, const double* x, double* sums) const {
  for_each_run(part, [&](const auto& run, std::int64_t j, std::int64_t n) {
    const RunTerms terms = terms_of(*this, j, n);
    kernels_of(run).add_products(run, n, part.begin, part.end, terms.terms(), x + j - part.first, sums);
  });
}

void NumericColumns::write_values(const Part& part, double* out, std::int64_t stride) const {
  for_each_run(part, [&](const auto& run, std::int64_t j, std::int64_t n) {
    RunTerms terms;
    std::fill_n(terms.minus, n, 0.0);
    std::fill_n(terms.times, n, 1.0);
    std::copy_n(fill.data() + j, n, terms.missing);
    kernels_of(run).by_rows(run, n, part.begin, part.end, terms.terms(), nullptr, out + j - part.first, stride);
  });
}

void DownTheRows::pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const {
  matrix_.write_tiles(tile, 1, begin, end, out, 0);
}

void AcrossTheColumns::pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const {
  const std::int64_t first = tile * kTile, last = std::min(first + kTile, width());
  if (last - first < kTile) std::fill(out, out + (end - begin) * kTile, 0.0);
  matrix_.write_columns({begin, end - begin, first, last}, out, kTile);
}

void multiply_rows(
    const NumericColumns& matrix, const double* vectors, std::int64_t n_vectors, ThreadPool& pool,
    const CancelToken& cancel,
    const std::function<void(std::int64_t row, std::int64_t n, std::int64_t v, const double* values)>& store,
    PhaseProgress* progress) {
  constexpr std::int64_t kRows = 512;  // 4 kB of sums
  const std::int64_t width = matrix.n_columns();
  pool.parallel_for(
      checked::ceil_div(matrix.n_rows(), kRows), cancel,
      [&](std::int64_t task, int) {
        const std::int64_t row = task * kRows, n = std::min(kRows, matrix.n_rows() - row);
        double leaf[kRows], group[kRows];
        SumTree groups(n);
        for (std::int64_t v = 0; v < n_vectors; ++v) {
          const double* const x = vectors + v * width;
          groups.clear();
          for (std::int64_t first = 0; first < width; first += kLeafRows) {
            if (first % kGroupRows == 0) std::fill_n(group, n, 0.0);
            const std::int64_t end = std::min(first + kLeafRows, width);
            std::fill_n(leaf, n, 0.0);
            matrix.add_products({first, end - first, row, row + n}, x + first, leaf);
            for (std::int64_t r = 0; r < n; ++r) group[r] += leaf[r];
            if (width > kGroupRows && (end % kGroupRows == 0 || end == width)) groups.push(group);
          }
          store(row, n, v, width > kGroupRows ? groups.finish() : group);
        }
        if (progress != nullptr) progress->add(n);
      },
      progress);
}

std::shared_ptr<const RowSource> make_row_source(const NumericColumns& matrix, std::int64_t copy, ThreadPool& pool,
                                                 const CancelToken& cancel) {
  if (matrix.rows() != nullptr) return make_row_source(*matrix.rows(), Reads::during_call, {});
  if (copy == 0) return std::make_shared<MatrixRows>(matrix);
  return std::make_shared<CopiedRows>(matrix, pool, cancel);
}

std::int64_t copy_bytes(const NumericColumns& matrix, std::int64_t room) {
  if (matrix.rows() != nullptr) return 0;
  const std::int64_t bytes = checked::mul(8, checked::mul(matrix.n_rows(), stride_of(matrix.n_columns())));
  return bytes <= room / 2 ? bytes : 0;
}

}  // namespace stope::gram
