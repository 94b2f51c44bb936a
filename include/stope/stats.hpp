// Statistics of the columns of tables, matrices and plain arrays, in one pass. Every back end gives the same bits.
//
//   const Statistics s = describe(table);                        every column of a table
//   describe(ArrayView{x, ElementType::float32, n});             one array
//   describe(ArrayView{x, ElementType::int8, rows, columns});    a row-major matrix: one entry per column
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/array.hpp"
#include "stope/backend_report.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

struct StatsOptions {
  /// all: everything in one pass. extremes: only count, missing, zeros, min and max. That is less arithmetic, for
  /// memory that is faster than the arithmetic.
  enum class Depth { all, extremes } depth = Depth::all;
  /// count: a second pass over numeric columns counts their different values.
  enum class Distinct { nominal_only, count } distinct = Distinct::nominal_only;
  /// A second pass counts the values in this many bins of equal width; 0 = none.
  std::int64_t histogram_bins = 0;
  /// Shares from 0 to 1: a second pass finds these quantiles of numeric columns; 0.5 is the median. At most 1,000.
  std::vector<double> quantiles = {};
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
  Values values;                     ///< names of a nominal column; not repeated for classes of rows
  std::vector<std::int64_t> counts;  ///< how often each of `values` occurs, or each of `codes`
  /// Classes of rows alone, where classes x values exceed 65,536: the codes of the values that occur in the class,
  /// ascending. Then `counts` has one number for each of them.
  std::optional<std::vector<std::int32_t>> codes;
  std::optional<std::int64_t> distinct;
  std::optional<Histogram> histogram;
  /// Numeric columns: as many as StatsOptions::quantiles, in that order, of the values that are present. The value at
  /// position (count - 1) * share of the sorted values, interpolated between its neighbours as NumPy does. Exact order
  /// statistics, NaN where there is no value. Infinite values count (docs/numerics/stats.md).
  std::vector<double> quantiles;
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

/// The report as one JSON object, as --json prints it, and as lines for people, as --explain does.
std::string to_json(const StatsReport& report);
std::string to_text(const StatsReport& report);

struct Statistics {
  std::vector<ColumnStatistics> columns;
  std::vector<ClassStatistics> classes;  ///< for StatsOptions::by, in the order of its values
  StatsReport report;
};

/// Describes every column of the table, whatever its role. Columns in a mapped file are read once, in order, so that a
/// table larger than memory is streamed. Throws invalid_argument for options out of range and for a `by` that is no
/// nominal column of the table, and out_of_memory, before the work, if the statistics of all classes exceed the run's
/// memory limit.
Statistics describe(const Table& table, const StatsOptions& options = {}, const RunOptions& run = {});

/// Describes every column of the array, of any element type and with any strides. Whole numbers of every type are
/// computed exactly; booleans count as 0 and 1. Nothing is kept of the array.
///
/// Arrays in a GPU's memory: that GPU reads float32, float64, int32 and int64 in place, unless a stride is negative.
/// Other types and negative strides, RunOptions::device "cpu" and second passes copy the array to the host's memory,
/// and StatsReport::reason says so. Throws device_unavailable where CUDA is off. A GPU that reads the host's memory
/// (RunOptions::device) takes the same types; the CPU computes the others.
///
/// Throws invalid_argument for `by`, and as stope/array.hpp says; for a GPU's array also where memory or stream is not
/// that GPU's, and where RunOptions::device names another GPU.
Statistics describe(const ArrayView& array, const StatsOptions& options = {}, const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
