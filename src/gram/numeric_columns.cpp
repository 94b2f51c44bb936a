#include "gram/numeric_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/row_sums.hpp"
#include "stope/error.hpp"
#include "table/column_error.hpp"

namespace stope::gram {
namespace {

struct Weights {
  const double* values;
  double of(std::int64_t row) const { return values == nullptr ? 1.0 : values[row]; }
};

// The present values that have a weight: how many, the smallest and the largest.
struct Extent {
  std::int64_t n_present = 0;
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
};

// A weight of zero takes the row out, whatever its value.
template <class T>
Extent extent_of(const T* values, std::int64_t n, Weights weights) {
  // Each lane has its own minimum. Compilers put the lanes into vectors, which they must not do with one running
  // minimum. NaN wins no comparison, and is counted because it is not equal to itself.
  constexpr std::int64_t kLanes = 8;
  double low[kLanes], high[kLanes];
  std::int64_t missing[kLanes] = {};
  std::fill_n(low, kLanes, std::numeric_limits<double>::infinity());
  std::fill_n(high, kLanes, -std::numeric_limits<double>::infinity());
  const std::int64_t in_lanes = weights.values == nullptr ? n / kLanes * kLanes : 0;
  for (std::int64_t row = 0; row < in_lanes; row += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const auto v = static_cast<double>(values[row + lane]);
      low[lane] = v < low[lane] ? v : low[lane];
      high[lane] = v > high[lane] ? v : high[lane];
      missing[lane] += v != v ? 1 : 0;
    }
  }
  Extent extent;
  extent.n_present = in_lanes;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    extent.n_present -= missing[lane];
    extent.low = std::min(extent.low, low[lane]);
    extent.high = std::max(extent.high, high[lane]);
  }
  for (std::int64_t row = in_lanes; row < n; ++row) {
    const auto v = static_cast<double>(values[row]);
    if (v != v || weights.of(row) == 0.0) continue;
    ++extent.n_present;
    extent.low = std::min(extent.low, v);
    extent.high = std::max(extent.high, v);
  }
  return extent;
}

// Whether all values are present, finite and counted: then there is nothing more to check.
bool is_complete(const Extent& extent, std::int64_t n) {
  return extent.n_present == n && std::isfinite(extent.low) && std::isfinite(extent.high);
}

template <class T>
ColumnSummary summarise(const T* values, std::int64_t n, Weights weights, const Extent& extent) {
  const double low = extent.low, high = extent.high;
  ColumnSummary summary;
  summary.n_present = extent.n_present;
  if (summary.n_present == 0) return summary;
  if (low == high) {           // no arithmetic here: the computed mean of n equal numbers need not be that number
    summary.mean = low + 0.0;  // +0.0 for zeros of either sign
    return summary;
  }
  const auto counted = [&](std::int64_t row) { return values[row] == values[row] ? weights.of(row) : 0.0; };
  const double total =
      weights.values == nullptr ? static_cast<double>(summary.n_present) : sum_over_rows(0, n, counted);
  summary.mean = sum_over_rows(0, n,
                               [&](std::int64_t row) {
                                 const double weight = counted(row);
                                 return weight == 0.0 ? 0.0 : weight * static_cast<double>(values[row]);
                               }) /
                 total;
  summary.deviation = std::max(high - summary.mean, summary.mean - low);
  // Values are scaled by a power of two, which is exact, so that no square overflows or vanishes.
  int exponent = 0;
  std::frexp(summary.deviation, &exponent);
  const double half = std::ldexp(1.0, -exponent / 2);  // in two steps: 2^1074 is no double
  const double rest = std::ldexp(1.0, -exponent - -exponent / 2);
  const double squares = sum_over_rows(0, n, [&](std::int64_t row) {
    const double weight = counted(row);
    if (weight == 0.0) return 0.0;
    const double d = (static_cast<double>(values[row]) - summary.mean) * half * rest;
    return weight * (d * d);
  });
  summary.length = std::ldexp(std::sqrt(squares), exponent);
  return summary;
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

class MatrixRows : public RowSource {
 public:
  explicit MatrixRows(const NumericColumns& matrix) : matrix_(matrix) {}
  std::int64_t n_rows() const override { return matrix_.n_rows(); }
  std::int64_t n_columns() const override { return matrix_.n_columns(); }
  ElementType dtype() const override { return ElementType::float64; }
  bool in_place() const override { return false; }
  std::int64_t row_stride() const override { return matrix_.n_columns(); }

  const void* rows(std::int64_t first, std::int64_t n, void* scratch) const override {
    // Rows are written in strips, column after column: the part of the output that a strip fills stays in the cache.
    constexpr std::int64_t kStrip = 64;
    auto* const out = static_cast<double*>(scratch);
    for (std::int64_t strip = first; strip < first + n; strip += kStrip) {
      const std::int64_t end = std::min(strip + kStrip, first + n);
      for (std::int64_t j = 0; j < matrix_.n_columns(); ++j) {
        matrix_.write_values(j, strip, end, out + (strip - first) * matrix_.n_columns() + j, matrix_.n_columns());
      }
    }
    return out;
  }

 private:
  const NumericColumns& matrix_;
};

// The rows, written out once. Columns of a table lie far apart, and gathering a row of them takes longer than
// multiplying it.
class CopiedRows : public MatrixRows {
 public:
  CopiedRows(const NumericColumns& matrix, ThreadPool& pool, const CancelToken& cancel)
      : MatrixRows(matrix), values_(checked::mul(matrix.n_rows(), matrix.n_columns())) {
    constexpr std::int64_t kRows = 64;
    pool.parallel_for(checked::ceil_div(n_rows(), kRows), cancel, [&](std::int64_t task, int) {
      const std::int64_t first = task * kRows;
      MatrixRows::rows(first, std::min(kRows, n_rows() - first), values_.data() + first * n_columns());
    });
  }
  bool in_place() const override { return true; }
  const void* rows(std::int64_t first, std::int64_t, void*) const override {
    return values_.data() + first * n_columns();
  }

 private:
  Buffer<double> values_;
};

}  // namespace

NumericColumns::NumericColumns(const Table& table, const std::vector<std::int64_t>& columns, MissingValues missing,
                               const std::vector<double>& row_weights, Summaries summaries, ThreadPool& pool,
                               const CancelToken& cancel)
    : n_rows_(table.n_rows) {
  for (const std::int64_t index : columns) {
    const Column& column = table.columns[static_cast<std::size_t>(index)];
    if (column.nominal()) {
      throw column_error(ErrorCode::unsupported, table, column,
                         " is nominal: leave it out, or use the numeric attributes only", -1, "nominal");
    }
    columns_.push_back(&column);
  }
  summaries_.resize(columns_.size());
  const Weights weights{row_weights.empty() ? nullptr : row_weights.data()};
  pool.parallel_for(n_columns(), cancel, [&](std::int64_t j, int) {
    with_numbers(column(j), [&](const auto* values) {
      const Extent extent = extent_of(values, n_rows_, weights);
      if (!is_complete(extent, n_rows_)) check_values(table, column(j), values, n_rows_, missing, weights);
      if (summaries == Summaries::no) return;
      ColumnSummary& summary = summaries_[static_cast<std::size_t>(j)];
      summary = summarise(values, n_rows_, weights, extent);
      if (std::isfinite(summary.mean) && std::isfinite(summary.deviation)) return;
      throw column_error(ErrorCode::invalid_data, table, column(j),
                         ": its values are too large (a sum or difference overflows)");
    });
  });
  for (std::int64_t j = 0; j < n_columns(); ++j) {
    shift.push_back(summaries_[static_cast<std::size_t>(j)].mean);
  }
  fill = shift;
  factor.assign(columns_.size(), 1.0);
}

void NumericColumns::write(std::int64_t j, std::int64_t begin, std::int64_t end, double* out,
                           std::int64_t stride) const {
  const double minus = shift[static_cast<std::size_t>(j)], times = factor[static_cast<std::size_t>(j)];
  const double missing = (fill[static_cast<std::size_t>(j)] - minus) * times;
  with_numbers(column(j), [&](const auto* values) {
    for (std::int64_t row = begin; row < end; ++row, out += stride) {
      const double v = (static_cast<double>(values[row]) - minus) * times;
      *out = std::isnan(v) ? missing : v;
    }
  });
  if (row_factor.empty()) return;
  out -= (end - begin) * stride;
  for (std::int64_t row = begin; row < end; ++row, out += stride) *out *= row_factor[static_cast<std::size_t>(row)];
}

void NumericColumns::write_values(std::int64_t j, std::int64_t begin, std::int64_t end, double* out,
                                  std::int64_t stride) const {
  const double missing = fill[static_cast<std::size_t>(j)];
  with_numbers(column(j), [&](const auto* values) {
    for (std::int64_t row = begin; row < end; ++row, out += stride) {
      const auto v = static_cast<double>(values[row]);
      *out = std::isnan(v) ? missing : v;
    }
  });
}

void DownTheRows::pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const {
  const std::int64_t n = std::min(kTile, width() - tile * kTile);
  if (n < kTile) std::fill(out, out + (end - begin) * kTile, 0.0);
  for (std::int64_t c = 0; c < n; ++c) matrix_.write(tile * kTile + c, begin, end, out + c, kTile);
}

void AcrossTheColumns::pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const {
  const std::int64_t first = tile * kTile, last = std::min(first + kTile, width());
  if (last - first < kTile) std::fill(out, out + (end - begin) * kTile, 0.0);
  for (std::int64_t j = begin; j < end; ++j) matrix_.write(j, first, last, out + (j - begin) * kTile, 1);
}

std::shared_ptr<const RowSource> make_row_source(const NumericColumns& matrix, std::int64_t room, ThreadPool& pool,
                                                 const CancelToken& cancel) {
  if (copy_bytes(matrix, room) == 0) return std::make_shared<MatrixRows>(matrix);
  return std::make_shared<CopiedRows>(matrix, pool, cancel);
}

std::int64_t copy_bytes(const NumericColumns& matrix, std::int64_t room) {
  const std::int64_t bytes = checked::mul(8, checked::mul(matrix.n_rows(), matrix.n_columns()));
  return bytes <= room / 2 ? bytes : 0;
}

}  // namespace stope::gram
