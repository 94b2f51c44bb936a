// Statistics of the columns of tables, matrices and plain arrays, in one pass. Every back end gives the same bits.
//
//   const Statistics s = describe(table);                        every column of a table
//   describe(Array{x, ElementType::float32, n});                 one array
//   describe(Array{x, ElementType::float64, rows, columns});     a row-major matrix: one entry per column
//   describe(DeviceArray{{x, ElementType::float32, n}});          one array in a GPU's memory
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/backend_report.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope {

enum class ElementType { float32, float64, int32, int64 };
std::string_view to_string(ElementType type) noexcept;

/// Numbers in memory that the caller owns: value (row, column) lies at data[row * row_stride + column * column_stride].
/// Strides count values. Row-major arrays have column_stride 1, column-major ones row_stride 1.
struct Array {
  const void* data = nullptr;
  ElementType type = ElementType::float64;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 1;
  std::int64_t row_stride = 0;  ///< 0 = n_columns
  std::int64_t column_stride = 1;
};

/// An array in a GPU's memory. It is read in place, after all that `stream` (a cudaStream_t, null for the default
/// stream) has queued.
struct DeviceArray {
  Array values;
  int gpu = 0;  ///< its number, as in GpuInfo::index
  void* stream = nullptr;
};

struct StatsOptions {
  /// all: everything in one pass. extremes: only count, missing, zeros, min and max. That is less arithmetic, for
  /// memory that is faster than the arithmetic.
  enum class Depth { all, extremes } depth = Depth::all;
  /// count: a second pass over numeric columns counts their different values.
  enum class Distinct { nominal_only, count } distinct = Distinct::nominal_only;
  /// A second pass counts the values in this many bins of equal width; 0 = none.
  std::int64_t histogram_bins = 0;
  /// Name of a nominal column of a table: adds the statistics of each of its classes of rows.
  std::string by = {};
};

/// Counts of the finite values in bins of equal width; the last bin includes `high`. There are no bins without a finite
/// value.
struct Histogram {
  double low = 0.0, high = 0.0;
  std::vector<std::int64_t> counts;
};

/// Exact results for columns of integers; `sum` is empty where it needs more than 64 bits.
struct IntegerStatistics {
  std::int64_t min = 0, max = 0;
  std::optional<std::int64_t> sum;
};

/// One column. A number that does not exist (the mean of nothing, the variance of one value) is NaN; such a row is -1.
/// docs/NUMERICS.md has the formulas, the order of additions, error bounds, infinities and overflow.
struct ColumnStatistics {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::string name;                  ///< empty for arrays
  ValueType type = ValueType::real;  ///< as in the table; `integer` for arrays of integers
  std::int64_t rows = 0;
  std::int64_t count = 0;    ///< values that are present
  std::int64_t missing = 0;  ///< NaN, or the missing value of a nominal column
  std::int64_t zeros = 0;
  double min = kNone, max = kNone;
  std::int64_t min_row = -1, max_row = -1;  ///< the first row with that value; -0 equals 0
  double sum = 0.0, mean = kNone;
  double variance = kNone;   ///< ddof 1
  double deviation = kNone;  ///< its square root; correct even where the variance overflows or vanishes
  double skewness = kNone;   ///< m3 / m2^1.5, from the population's moments
  std::optional<IntegerStatistics> integers;
  std::vector<std::string> values;   ///< names of a nominal column; not repeated for classes of rows
  std::vector<std::int64_t> counts;  ///< how often each of `values` occurs
  std::optional<std::int64_t> distinct;
  std::optional<Histogram> histogram;
};

/// The rows of one class, as if they were a table of their own: row numbers in ColumnStatistics count within the class.
struct ClassStatistics {
  std::string value;
  std::int64_t rows = 0;
  std::vector<ColumnStatistics> columns;
};

/// How the statistics were computed, for --explain and --json. Threads are those that had work: few values start none.
/// Seconds are those of the first pass.
struct StatsReport : BackendReport {
  std::int64_t bytes = 0;    ///< bytes of the values read in the first pass
  double gpu_seconds = 0.0;  ///< the GPU's work in the first pass, where the values were in its memory
  double second_pass_seconds = 0.0;
};

struct Statistics {
  std::vector<ColumnStatistics> columns;
  std::vector<ClassStatistics> classes;  ///< for StatsOptions::by, in the order of its values
  StatsReport report;
};

/// Describes every column of the table, whatever its role. Columns in a mapped file are read once, in order, so that a
/// table larger than memory is streamed. Throws invalid_argument for options out of range and for a `by` that is no
/// nominal column of the table.
Statistics describe(const Table& table, const StatsOptions& options = {}, const RunOptions& run = {});

/// Describes every column of the array. Throws invalid_argument for sizes or strides that are negative or exceed the
/// address space, and for `by`.
Statistics describe(const Array& array, const StatsOptions& options = {}, const RunOptions& run = {});

/// Describes every column of an array in a GPU's memory, on that GPU. RunOptions::device "cpu" and second passes copy
/// it to the host's memory. Throws device_unavailable where CUDA is off, and invalid_argument for memory that is not
/// that GPU's.
Statistics describe(const DeviceArray& array, const StatsOptions& options = {}, const RunOptions& run = {});

}  // namespace stope
