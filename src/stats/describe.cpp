// describe(): which columns there are, the passes over them, classes of rows (stope/stats.hpp).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <type_traits>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "stats/cpu_pass.hpp"
#include "stats/finish.hpp"
#include "stats/nominal.hpp"
#include "stats/second_pass.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace stats {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Values scaled by a power of two, for the columns whose cubes would overflow or vanish.
void rescue(const std::vector<Source>& sources, const std::vector<Part<double>>& parts, PassOptions pass,
            ThreadPool& pool, std::vector<std::optional<Rescued>>& rescued) {
  rescued.resize(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::optional<int> exponent = rescue_exponent(parts[i], sources[i].type);
    if (!exponent) continue;
    pass.scale = rescue_scale(*exponent);
    pass.progress = nullptr;
    rescued[i] = Rescued{pass_over<double>({sources[i]}, pass, pool)[0], *exponent};
  }
}

// One job: its options, its threads, what it reports.
class Job {
 public:
  Job(const StatsOptions& options, const RunOptions& run)
      : options_(options), run_(run), choice_(device::choose_backend(run)), pool_(run.threads) {
    if (options.histogram_bins < 0 || options.histogram_bins > kMostBins) {
      throw Error(ErrorCode::invalid_argument, "histogram_bins is " + std::to_string(options.histogram_bins) +
                                                   ": a number from 0 to " + std::to_string(kMostBins) + " is needed");
    }
    pass_.kernels = &kernels_for(choice_.backend);
    pass_.wanted = options.depth == StatsOptions::Depth::all ? Wanted::moments : Wanted::extremes;
    pass_.cancel = run.cancel;
    pass_.progress = &run.progress;
    report_.backend = pass_.kernels->name;
    report_.reason = choice_.forced ? choice_.reason : "";
    report_.threads = pool_.size();
  }

  ThreadPool& pool() { return pool_; }
  const RunOptions& run() const { return run_; }
  StatsReport& report() { return report_; }

  /// Fills in the columns of the sources: `rows` is the matrix that they are columns of, where it is row-major.
  template <class Wide>
  void numeric(const std::vector<Source>& sources, const Array* rows, std::vector<ColumnStatistics*>& columns) {
    Clock::time_point start = Clock::now();
    const std::vector<Part<Wide>> parts =
        rows != nullptr ? pass_over_rows<Wide>(*rows, pass_, pool_) : pass_over<Wide>(sources, pass_, pool_);
    std::vector<std::optional<Rescued>> rescued(sources.size());
    if constexpr (std::is_same_v<Wide, double>) {
      if (pass_.wanted == Wanted::moments) rescue(sources, parts, pass_, pool_, rescued);
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
      finish(parts[i], rescued[i], options_.depth, *columns[i]);
      report_.bytes += sources[i].n * size_of(sources[i].type);
    }
    report_.seconds += seconds_since(start);
    start = Clock::now();
    if (options_.histogram_bins > 0) add_histograms(sources, options_.histogram_bins, run_.cancel, pool_, columns);
    if (options_.distinct == StatsOptions::Distinct::count) {
      count_distinct(sources, memory_budget(run_), run_.cancel, pool_, columns);
    }
    report_.second_pass_seconds += seconds_since(start);
  }

  void nominal(const std::vector<CodeSource>& sources, std::vector<ColumnStatistics*>& columns) {
    const Clock::time_point start = Clock::now();
    count_values(sources, run_.cancel, pool_, columns);
    for (const CodeSource& source : sources)
      report_.bytes += source.n * static_cast<std::int64_t>(sizeof *source.codes);
    report_.seconds += seconds_since(start);
  }

 private:
  const StatsOptions& options_;
  const RunOptions& run_;
  device::BackendChoice choice_;
  ThreadPool pool_;
  PassOptions pass_;
  StatsReport report_;
};

Source source_of(const Column& column) {
  if (const auto* floats = std::get_if<Buffer<float>>(&column.data)) {
    return {floats->data(), ElementType::float32, floats->size(), 1, nullptr};
  }
  const auto& doubles = std::get<Buffer<double>>(column.data);
  return {doubles.data(), ElementType::float64, doubles.size(), 1, nullptr};
}

// Rows of a table, class after class.
struct Classes {
  Buffer<std::int64_t> rows;
  std::vector<std::int64_t> begins;  // of every class, and where the last one ends
};

Classes rows_by_class(const Column& by, const RunOptions& run) {
  const Buffer<std::int32_t>& codes = by.codes();
  Classes classes;
  classes.begins.assign(by.values.size() + 1, 0);
  for (std::int64_t row = 0; row < codes.size(); ++row) {
    if (codes[row] >= 0) ++classes.begins[static_cast<std::size_t>(codes[row]) + 1];
  }
  for (std::size_t c = 1; c < classes.begins.size(); ++c) classes.begins[c] += classes.begins[c - 1];
  const std::int64_t n = classes.begins.back();
  const std::int64_t bytes = checked::mul(n, std::int64_t{sizeof(std::int64_t)});
  classes.rows = Buffer<std::int64_t>(n, storage_within(bytes, memory_budget(run)));
  std::vector<std::int64_t> next(classes.begins.begin(), classes.begins.end() - 1);
  for (std::int64_t row = 0; row < codes.size(); ++row) {
    if (codes[row] >= 0) classes.rows[next[static_cast<std::size_t>(codes[row])]++] = row;
  }
  return classes;
}

// The columns of a table, each with its statistics or the statistics of one class of its rows.
class Collected {
 public:
  void add(const Column& column, const std::int64_t* rows, std::int64_t n, ColumnStatistics& statistics) {
    statistics.name = column.name;
    statistics.type = column.type;
    statistics.rows = n;
    if (column.nominal()) {
      if (rows == nullptr) statistics.values = column.values;
      codes_.push_back({column.codes().data(), n, static_cast<std::int64_t>(column.values.size()), rows});
      nominal_.push_back(&statistics);
    } else {
      Source source = source_of(column);
      source.n = n;
      source.rows = rows;
      sources_.push_back(source);
      numeric_.push_back(&statistics);
    }
  }
  void run(Job& job) {
    job.numeric<double>(sources_, nullptr, numeric_);
    job.nominal(codes_, nominal_);
  }

 private:
  std::vector<Source> sources_;
  std::vector<CodeSource> codes_;
  std::vector<ColumnStatistics*> numeric_, nominal_;
};

const Column& class_column(const Table& table, const std::string& name) {
  const std::int64_t found = table.find(name);
  const std::string where = table.source.empty() ? "" : table.source + ": ";
  if (found < 0) {
    std::vector<std::string> known;
    known.reserve(table.columns.size());
    for (const Column& column : table.columns) known.push_back(column.name);
    throw Error(ErrorCode::invalid_argument, where + "there is no column '" + name + "'" + did_you_mean(name, known));
  }
  const Column& column = table.columns[static_cast<std::size_t>(found)];
  if (!column.nominal()) {
    throw Error(ErrorCode::invalid_argument,
                where + "column '" + name + "' is " + std::string(to_string(column.type)) + ", classes are nominal");
  }
  return column;
}

void check(const Array& array, const StatsOptions& options) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorCode::invalid_argument, what); };
  if (!options.by.empty()) refuse("an array has no column '" + options.by + "'");
  if (array.n_rows < 0 || array.n_columns < 0) {
    refuse("an array of " + std::to_string(array.n_rows) + " rows and " + std::to_string(array.n_columns) + " columns");
  }
  if (array.row_stride < 0 || array.column_stride < 0) {
    refuse("strides of " + std::to_string(array.row_stride) + " and " + std::to_string(array.column_stride) +
           " are negative");
  }
  if (array.data == nullptr && array.n_rows > 0 && array.n_columns > 0) refuse("the array has no data");
  const std::int64_t last =
      checked::add(checked::mul(std::max<std::int64_t>(array.n_rows, 1) - 1, array.row_stride),
                   checked::mul(std::max<std::int64_t>(array.n_columns, 1) - 1, array.column_stride));
  (void)checked::mul(last, size_of(array.type));
}

}  // namespace
}  // namespace stats

std::string_view to_string(ElementType type) noexcept {
  switch (type) {
    case ElementType::float32: return "float32";
    case ElementType::float64: return "float64";
    case ElementType::int32: return "int32";
    case ElementType::int64: break;
  }
  return "int64";
}

Statistics describe(const Table& table, const StatsOptions& options, const RunOptions& run) {
  const Column* by = options.by.empty() ? nullptr : &stats::class_column(table, options.by);
  stats::Job job(options, run);
  Statistics result;
  result.columns.resize(table.columns.size());
  stats::Collected whole;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    whole.add(table.columns[c], nullptr, table.n_rows, result.columns[c]);
  }
  whole.run(job);
  if (by != nullptr) {
    const stats::Classes classes = stats::rows_by_class(*by, run);
    result.classes.resize(by->values.size());
    stats::Collected parts;
    for (std::size_t k = 0; k < by->values.size(); ++k) {
      ClassStatistics& mine = result.classes[k];
      const std::int64_t begin = classes.begins[k];
      mine.value = by->values[k];
      mine.rows = classes.begins[k + 1] - begin;
      mine.columns.resize(table.columns.size());
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        parts.add(table.columns[c], classes.rows.data() + begin, mine.rows, mine.columns[c]);
      }
    }
    parts.run(job);
  }
  result.report = job.report();
  return result;
}

Statistics describe(const Array& array, const StatsOptions& options, const RunOptions& run) {
  Array matrix = array;
  if (matrix.row_stride == 0) matrix.row_stride = std::max<std::int64_t>(matrix.n_columns, 1);
  stats::check(matrix, options);
  stats::Job job(options, run);
  Statistics result;
  result.columns.resize(static_cast<std::size_t>(matrix.n_columns));
  std::vector<stats::Source> sources;
  std::vector<ColumnStatistics*> columns;
  for (std::int64_t c = 0; c < matrix.n_columns; ++c) {
    const auto* data = static_cast<const char*>(matrix.data);
    if (matrix.n_rows > 0) data += c * matrix.column_stride * stats::size_of(matrix.type);
    sources.push_back({data, matrix.type, matrix.n_rows, matrix.row_stride, nullptr});
    columns.push_back(&result.columns[static_cast<std::size_t>(c)]);
  }
  const bool by_rows = matrix.column_stride == 1 && matrix.n_columns > 1 && matrix.row_stride != 1;
  if (stats::is_integer(matrix.type)) {
    job.numeric<std::int64_t>(sources, by_rows ? &matrix : nullptr, columns);
  } else {
    job.numeric<double>(sources, by_rows ? &matrix : nullptr, columns);
  }
  result.report = job.report();
  return result;
}

}  // namespace stope
