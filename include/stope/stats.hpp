// Statistics of columns: of whole tables, of matrices and of plain arrays, in one pass, the same bits on every back
// end.
//
//   const Statistics s = describe(table);                        every column of a table
//   describe(Array{x, ElementType::float32, n});                 one array
//   describe(Array{x, ElementType::float64, rows, columns});     a row-major matrix: one entry a column
//   describe(DeviceArray{{x, ElementType::float32, n}});          one array in a GPU's memory
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope {

enum class ElementType { float32, float64, int32, int64 };
std::string_view to_string(ElementType type) noexcept;

/// Numbers in memory that somebody else owns: value (row, column) lies at data[row * row_stride + column *
/// column_stride]. Row-major has column_stride 1, column-major row_stride 1; strides count values.
struct Array {
  const void* data = nullptr;
  ElementType type = ElementType::float64;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 1;
  std::int64_t row_stride = 0;  ///< 0 = n_columns
  std::int64_t column_stride = 1;
};

/// The same in a GPU's memory, read where it is after what `stream` (a cudaStream_t, null for the default stream) has
/// queued.
struct DeviceArray {
  Array values;
  int gpu = 0;  ///< as GpuInfo::index
  void* stream = nullptr;
};

struct StatsOptions {
  /// Everything in one pass, or only count, missing, zeros, min and max: less arithmetic for a memory faster than it.
  enum class Depth { all, extremes } depth = Depth::all;
  /// In a second pass over numeric columns: how many different values there are.
  enum class Distinct { nominal_only, count } distinct = Distinct::nominal_only;
  /// In a second pass: counts of values in so many bins of one width; 0 = none.
  std::int64_t histogram_bins = 0;
  /// Name of a nominal column of a table: the statistics of every class of rows as well.
  std::string by = {};
};

/// Counts of the finite values in bins of equal width; the last bin includes `high`. No bins where there is no finite
/// value.
struct Histogram {
  double low = 0.0, high = 0.0;
  std::vector<std::int64_t> counts;
};

/// Exact results of columns of integers; `sum` is empty where it needs more than 64 bits.
struct IntegerStatistics {
  std::int64_t min = 0, max = 0;
  std::optional<std::int64_t> sum;
};

/// One column. What does not exist (the mean of nothing, the variance of one value) is NaN, a row -1. Formulas, the
/// order of additions, error bounds, infinities and overflow: docs/NUMERICS.md.
struct ColumnStatistics {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::string name;                  ///< empty for arrays
  ValueType type = ValueType::real;  ///< of tables; arrays of integers are `integer`
  std::int64_t rows = 0;
  std::int64_t count = 0;    ///< values that are there
  std::int64_t missing = 0;  ///< NaN, or the missing value of a nominal column
  std::int64_t zeros = 0;
  double min = kNone, max = kNone;
  std::int64_t min_row = -1, max_row = -1;  ///< the first with that value; -0 equals 0
  double sum = 0.0, mean = kNone;
  double variance = kNone;   ///< ddof 1
  double deviation = kNone;  ///< its square root; neither overflows nor vanishes where the variance does
  double skewness = kNone;   ///< m3 / m2^1.5 of the population's moments
  std::optional<IntegerStatistics> integers;
  std::vector<std::string> values;   ///< of a nominal column; not repeated for classes of rows
  std::vector<std::int64_t> counts;  ///< how often each of its values occurs
  std::optional<std::int64_t> distinct;
  std::optional<Histogram> histogram;
};

/// The rows of one class, as if they were a table of their own: rows in ColumnStatistics count within it.
struct ClassStatistics {
  std::string value;
  std::int64_t rows = 0;
  std::vector<ColumnStatistics> columns;
};

/// How it was done, for --explain and --json.
struct StatsReport {
  std::string backend;       ///< "scalar", "avx2", "avx512", "cuda" (stope/device.hpp)
  std::string reason;        ///< why this one
  int threads = 0;           ///< that had work: few values do not start any
  std::int64_t bytes = 0;    ///< of values read in the first pass
  double seconds = 0.0;      ///< of the first pass
  double gpu_seconds = 0.0;  ///< of the GPU's work in it, where the values were in its memory
  double second_pass_seconds = 0.0;
};

struct Statistics {
  std::vector<ColumnStatistics> columns;
  std::vector<ClassStatistics> classes;  ///< of StatsOptions::by, in the order of its values
  StatsReport report;
};

/// Every column of the table, whatever its role. Columns in a mapped file are read once, in order: a table larger than
/// memory is streamed. Throws invalid_argument for options out of range and a `by` that is no nominal column of the
/// table.
Statistics describe(const Table& table, const StatsOptions& options = {}, const RunOptions& run = {});

/// Every column of the array. Throws invalid_argument for sizes or strides that are negative or do not fit an address,
/// and for `by`.
Statistics describe(const Array& array, const StatsOptions& options = {}, const RunOptions& run = {});

/// Every column of an array in a GPU's memory, computed there; RunOptions::device "cpu", and second passes, take a copy
/// in the host's memory. Throws device_unavailable where CUDA is off, invalid_argument for memory that is not that
/// GPU's.
Statistics describe(const DeviceArray& array, const StatsOptions& options = {}, const RunOptions& run = {});

}  // namespace stope
