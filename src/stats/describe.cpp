// describe(): chooses the columns, the passes over them, and the classes of rows (stope/stats.hpp).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <type_traits>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/environment.hpp"
#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "base/thread_pool.hpp"
#include "device/auto_gpu.hpp"
#include "device/gpu_array.hpp"
#include "stats/auto_device.hpp"
#include "stats/class_pass.hpp"
#include "stats/classes.hpp"
#include "stats/collected.hpp"
#include "stats/cpu_pass.hpp"
#include "stats/cuda_pass.hpp"
#include "stats/finish.hpp"
#include "stats/nominal.hpp"
#include "stats/quantiles.hpp"
#include "stats/second_pass.hpp"
#include "stope/error.hpp"
#include "stope/warning.hpp"
#include "table/check_table.hpp"

namespace stope {
namespace stats {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Values that keep a thread busy for several times as long as starting it takes, some 12 us
// (bench/results/prior_works_001_*.json). Fewer values are left to the caller's own thread.
constexpr std::int64_t kPassValues = std::int64_t{1} << 18, kNominalValues = std::int64_t{1} << 16;
constexpr std::int64_t kHistogramValues = std::int64_t{1} << 15, kDistinctValues = std::int64_t{1} << 14;
constexpr std::int64_t kQuantileValues = std::int64_t{1} << 15;

// Returns that number, unless a test forces another.
std::int64_t thread_values(std::int64_t number) {
  const std::int64_t forced = environment::count(environment::Variable::stats_thread_values);
  return forced > 0 ? forced : number;
}

// Repeats the pass with values scaled by a power of two, for columns whose cubes would overflow or vanish.
void rescue(const std::vector<Source>& sources, const std::vector<Part<double>>& parts, PassOptions pass,
            ThreadPool& pool, std::optional<ClassPass>& classes, std::vector<std::optional<Rescued>>& rescued) {
  rescued.resize(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::optional<int> exponent = rescue_exponent(parts[i], sources[i].type);
    if (!exponent) continue;
    if (classes) classes->fill_rows();
    pass.scale = rescue_scale(*exponent);
    pass.told = nullptr;
    rescued[i] = Rescued{pass_over<double>({sources[i]}, pass, pool)[0], *exponent};
  }
}

std::int64_t values_of(const std::vector<Source>& sources) {
  std::int64_t n = 0;
  for (const Source& source : sources) n += source.n;
  return n;
}

constexpr const char* kUnsuited =
    "the values are too few for a GPU, not contiguous, or of a type that it does not read";

// One job: its options, its threads, what it reports.
class Job {
 public:
  Job(const StatsOptions& options, const RunOptions& run)
      : options_(options), run_(run), choice_(device::choose_backend(run)) {
    if (options.histogram_bins < 0 || options.histogram_bins > kMostBins) {
      throw Error(ErrorCode::invalid_argument,
                  "histogram_bins is " + std::to_string(options.histogram_bins) + ": a number from 0 to " +
                      std::to_string(kMostBins) + " is needed",
                  {.option = "histogram_bins"});
    }
    check_quantiles(options.quantiles);
    const bool cuda = choice_.backend == device::Backend::cuda;
    pass_.kernels = &kernels_for(cuda ? device::choose_cpu_backend("").backend : choice_.backend);
    pass_.wanted = options.depth == StatsOptions::Depth::all ? Wanted::moments : Wanted::extremes;
    pass_.cancel = run.cancel;
    pass_.told = &run_;
    report_.backend = pass_.kernels->name;
    report_.reason = cuda ? kUnsuited : choice_.forced ? choice_.reason : "";
    report_.device_reason = device::auto_reason(run, "GPUs do not count nominal values");
    threads_ = run.threads > 0 ? run.threads : available_threads();
  }

  /// Returns a pool with one thread per `a_thread` values, as far as there are threads. The pool is made only when it
  /// is wanted: starting many threads takes longer than a GPU's whole job.
  ThreadPool& pool(std::int64_t n_values, std::int64_t a_thread) {
    const auto wanted = static_cast<int>(std::clamp<std::int64_t>(n_values / thread_values(a_thread), 1, threads_));
    if (!pool_ || pool_->size() < wanted) pool_.emplace(wanted);
    report_.threads = std::max(report_.threads, pool_->size());
    return *pool_;
  }
  /// From here on the sources are classes of rows: all classes of a column, then all of the next.
  void set_classes(const Column& by, Classes& classes) {
    classes_.emplace(by, classes, run_);
    pass_.phase = "statistics by class";
  }
  const RunOptions& run() const { return run_; }
  StatsReport& report() { return report_; }

  /// Fills in the columns of the sources. `rows` is the row-major matrix that they are columns of, or null. Without it,
  /// a limited number of columns is done at a time: for millions of them, parts would outgrow the table.
  template <class Wide>
  void numeric(const std::vector<Source>& sources, const ArrayView* rows, std::vector<ColumnStatistics*>& columns) {
    constexpr std::size_t kColumnsAtOnce = 1 << 16;
    if (rows != nullptr || sources.size() <= kColumnsAtOnce) return numeric_at_once<Wide>(sources, rows, columns);
    // The classes of a column stay together.
    const std::size_t n_classes = classes_ ? classes_->n_classes() : 1;
    const std::size_t at_once = std::max(kColumnsAtOnce / n_classes, std::size_t{1}) * n_classes;
    pass_.total = values_of(sources);
    for (std::size_t first = 0; first < sources.size(); first += at_once) {
      const auto begin = static_cast<std::ptrdiff_t>(first);
      const auto end = static_cast<std::ptrdiff_t>(std::min(first + at_once, sources.size()));
      const std::vector<Source> some(sources.begin() + begin, sources.begin() + end);
      std::vector<ColumnStatistics*> theirs(columns.begin() + begin, columns.begin() + end);
      numeric_at_once<Wide>(some, nullptr, theirs);
      pass_.done_before += values_of(some);
    }
    pass_.done_before = pass_.total = 0;
  }

  /// Fills in columns that lie in a GPU's memory.
  template <class Wide>
  void on_gpu(const ArrayView& array, const std::vector<Source>& sources, std::vector<ColumnStatistics*>& columns) {
    const Clock::time_point start = Clock::now();
    const std::vector<Part<Wide>> parts = cuda_pass_over_device<Wide>(array, pass_, report_.gpu_seconds);
    std::vector<std::optional<Rescued>> rescued(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if constexpr (std::is_same_v<Wide, double>) {
        const std::optional<int> exponent = rescue_exponent(parts[i], sources[i].type);
        if (pass_.wanted != Wanted::moments || !exponent) continue;
        PassOptions scaled = pass_;
        scaled.scale = rescue_scale(*exponent);
        ArrayView column = array;
        column.data = sources[i].data;
        column.n_columns = column.column_stride = 1;
        rescued[i] = Rescued{cuda_pass_over_device<Wide>(column, scaled, report_.gpu_seconds)[0], *exponent};
      }
    }
    put(sources, parts, rescued, columns);
    report_.backend = "cuda";
    report_.reason = "the values are in the memory of GPU " + std::to_string(array.gpu);
    report_.device_reason = device::auto_reason(run_, "the values are in its memory");
    report_.seconds += seconds_since(start);
  }

  void second_pass(const std::vector<Source>& sources, std::vector<ColumnStatistics*>& columns) {
    const Clock::time_point start = Clock::now();
    const std::int64_t n = values_of(sources);
    const bool distinct = options_.distinct == StatsOptions::Distinct::count;
    if (options_.histogram_bins > 0 || distinct || !options_.quantiles.empty()) need_rows();
    if (options_.histogram_bins > 0) {
      PhaseProgress phase(run_, "histograms", 0, n_histogram_tasks_);
      add_histograms(sources, options_.histogram_bins, run_.cancel, pool(n, kHistogramValues), columns);
      n_histogram_tasks_ = phase.done();
    }
    if (distinct) {
      PhaseProgress phase(run_, "distinct values", 0, n_distinct_tasks_);
      count_distinct(sources, memory_budget(run_), run_.cancel, pool(n, kDistinctValues), columns);
      n_distinct_tasks_ = phase.done();
    }
    if (!options_.quantiles.empty()) {
      PhaseProgress phase(run_, "quantiles", 0, n_quantile_tasks_);
      add_quantiles(sources, options_.quantiles, memory_budget(run_), run_.cancel, pool(n, kQuantileValues), columns);
      n_quantile_tasks_ = phase.done();
    }
    report_.second_pass_seconds += seconds_since(start);
  }

  void nominal(const std::vector<CodeSource>& sources, std::vector<ColumnStatistics*>& columns) {
    const Clock::time_point start = Clock::now();
    std::int64_t n = 0;
    for (const CodeSource& source : sources) n += source.n;
    if (std::any_of(sources.begin(), sources.end(), [](const CodeSource& s) { return s.only < 0; })) need_rows();
    count_values(sources, run_, pool(n, kNominalValues), columns);
    report_.bytes += n * static_cast<std::int64_t>(sizeof(std::int32_t));
    report_.seconds += seconds_since(start);
  }

 private:
  void need_rows() {
    if (classes_) classes_->fill_rows();
  }
  template <class Wide>
  void numeric_at_once(const std::vector<Source>& sources, const ArrayView* rows,
                       std::vector<ColumnStatistics*>& columns) {
    const Clock::time_point start = Clock::now();
    const std::vector<Part<Wide>> parts = first_pass<Wide>(sources, rows);
    std::vector<std::optional<Rescued>> rescued(sources.size());
    if constexpr (std::is_same_v<Wide, double>) {
      if (pass_.wanted == Wanted::moments) {
        rescue(sources, parts, pass_, pool(values_of(sources), kPassValues), classes_, rescued);
      }
    }
    put(sources, parts, rescued, columns);
    report_.seconds += seconds_since(start);
    second_pass(sources, columns);
  }

  template <class Wide>
  void put(const std::vector<Source>& sources, const std::vector<Part<Wide>>& parts,
           const std::vector<std::optional<Rescued>>& rescued, std::vector<ColumnStatistics*>& columns) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      finish(parts[i], rescued[i], options_.depth, *columns[i]);
      report_.bytes += sources[i].n * size_of(sources[i].type);
    }
  }

  // The GPUs that take part; under auto one where that pays.
  std::vector<int> gpus_for(std::int64_t bytes) {
    if (choice_.backend == device::Backend::cuda) return suits_gpu(bytes) ? choice_.gpus : std::vector<int>();
    if (!device::is_automatic(run_) || given_up_ || bytes == 0) return {};
    const device::Decision decision = device::decide(offer_of(bytes, choice_.backend, threads_, 1));
    if (report_.backend != "cuda") report_.device_reason = decision.reason();
    if (decision.gpu != nullptr) gpu_name_ = decision.gpu_name();
    return decision.gpus();
  }
  void say_gpu(const std::string& more) {
    report_.backend = "cuda";
    report_.reason = (gpu_name_.empty() ? choice_.reason : gpu_name_) + more;
  }
  // Gives up a GPU that fails if nobody asked for it. The CPU then does everything.
  template <class Work>
  bool tried(const Work& work) {
    try {
      work();
      return true;
    } catch (const Error& error) {
      report_.device_reason = device::give_up_gpu(error, choice_.backend == device::Backend::cuda);
      report_.reason = "";
      given_up_ = true;
      report_.backend = pass_.kernels->name;
      return false;
    }
  }

  template <class Wide>
  std::vector<Part<Wide>> first_pass(const std::vector<Source>& sources, const ArrayView* rows) {
    std::int64_t bytes = 0;
    for (const Source& source : sources) bytes += source.n * size_of(source.type);
    const std::vector<int> gpus = gpus_for(bytes);
    if (gpus.empty()) return on_cpu<Wide>(sources, rows);
    need_rows();
    const std::int64_t limit = memory_budget(run_);
    std::vector<Part<Wide>> parts(sources.size());
    if (rows != nullptr) {
      if (!suits_gpu(*rows, limit)) return unsuited<Wide>(sources, rows);
      if (!tried([&] { parts = cuda_pass_over_rows<Wide>(*rows, pass_, gpus, limit); })) {
        return on_cpu<Wide>(sources, rows);
      }
      say_gpu("");
      return parts;
    }
    std::vector<Source> long_ones, short_ones;
    std::vector<std::size_t> long_at, short_at;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      (suits_gpu(sources[i]) ? long_ones : short_ones).push_back(sources[i]);
      (suits_gpu(sources[i]) ? long_at : short_at).push_back(i);
    }
    std::vector<Part<Wide>> found;
    if (long_ones.empty()) return unsuited<Wide>(sources, nullptr);
    if (!tried([&] { found = cuda_pass_over<Wide>(long_ones, pass_, gpus, limit); })) {
      return on_cpu<Wide>(sources, nullptr);
    }
    for (std::size_t i = 0; i < long_at.size(); ++i) parts[long_at[i]] = found[i];
    found = pass_over<Wide>(short_ones, pass_, pool(values_of(short_ones), kPassValues));
    for (std::size_t i = 0; i < short_at.size(); ++i) parts[short_at[i]] = found[i];
    say_gpu(short_at.empty() ? "" : "; short columns and classes on the CPU");
    return parts;
  }
  template <class Wide>
  std::vector<Part<Wide>> unsuited(const std::vector<Source>& sources, const ArrayView* rows) {
    if (report_.backend != "cuda") report_.device_reason = device::auto_reason(run_, kUnsuited);
    return on_cpu<Wide>(sources, rows);
  }
  template <class Wide>
  std::vector<Part<Wide>> on_cpu(const std::vector<Source>& sources, const ArrayView* rows) {
    ThreadPool& threads = pool(values_of(sources), kPassValues);
    if constexpr (std::is_same_v<Wide, double>) {
      std::optional<std::vector<Part<double>>> parts;
      if (classes_) parts = classes_->over(sources, pass_, threads);
      if (parts) return std::move(*parts);
      need_rows();
    }
    return rows != nullptr ? pass_over_rows<Wide>(sources, pass_, threads) : pass_over<Wide>(sources, pass_, threads);
  }

  const StatsOptions& options_;
  const RunOptions& run_;
  RunningJob running_{run_};
  bool given_up_ = false;
  int threads_ = 1;  // most threads that may be used
  device::BackendChoice choice_;
  std::string gpu_name_;  // of the GPU that auto took
  std::optional<ThreadPool> pool_;
  std::optional<ClassPass> classes_;
  PassOptions pass_;
  std::int64_t n_histogram_tasks_ = 0, n_distinct_tasks_ = 0, n_quantile_tasks_ = 0;  // of columns before, for progress
  StatsReport report_;
};

}  // namespace
}  // namespace stats

Statistics describe(const Table& table, const StatsOptions& options, const RunOptions& run) try {
  check_shape(table);
  const Column* by = options.by.empty() ? nullptr : &stats::class_column(table, options.by);
  stats::Job job(options, run);
  Statistics result;
  result.columns.resize(table.columns.size());
  stats::Collected whole;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    whole.add(table.columns[c], nullptr, table.n_rows, false, -1, result.columns[c]);
  }
  whole.run(job);
  if (by != nullptr) {
    stats::require_room_for_classes(table, *by, options, run);
    stats::Classes classes = stats::count_classes(*by, run);
    result.classes.resize(by->values.size());
    for (std::size_t k = 0; k < by->values.size(); ++k) {
      ClassStatistics& mine = result.classes[k];
      mine.value = by->values[k];
      mine.rows = classes.begins[k + 1] - classes.begins[k];
      mine.columns.resize(table.columns.size());
    }
    stats::Collected parts;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const bool sparse = stats::counts_sparsely(table.columns[c], by->values.size());
      for (std::size_t k = 0; k < by->values.size(); ++k) {
        ClassStatistics& mine = result.classes[k];
        const std::int32_t only = &table.columns[c] == by ? static_cast<std::int32_t>(k) : -1;
        parts.add(table.columns[c], classes.rows.data() + classes.begins[k], mine.rows, sparse, only, mine.columns[c]);
      }
    }
    job.set_classes(*by, classes);
    parts.run(job);
  }
  result.report = job.report();
  std::int64_t in_classes = 0;
  for (const ClassStatistics& one : result.classes) in_classes += one.rows;
  if (run.warn && !options.by.empty() && in_classes < table.n_rows) {
    run.warn(warning::kRowsWithoutClass, std::to_string(table.n_rows - in_classes) + " of " +
                                             std::to_string(table.n_rows) + " rows have no value of '" + options.by +
                                             "' and are in no class");
  }
  hand_report(run, "statistics", result.report);
  return result;
} catch (...) {
  rethrow_as_error();
}

namespace stats {
namespace {

std::vector<Source> columns_of(const ArrayView& matrix) {
  std::vector<Source> sources;
  sources.reserve(static_cast<std::size_t>(matrix.n_columns));
  for (std::int64_t c = 0; c < matrix.n_columns; ++c) {
    const auto* data = static_cast<const char*>(matrix.data);
    if (matrix.n_rows > 0) data += c * matrix.column_stride * size_of(matrix.type);
    sources.push_back({data, matrix.type, matrix.n_rows, matrix.row_stride, nullptr});
  }
  return sources;
}

std::vector<ColumnStatistics*> pointers_to(std::vector<ColumnStatistics>& columns) {
  std::vector<ColumnStatistics*> pointers;
  pointers.reserve(columns.size());
  for (ColumnStatistics& column : columns) pointers.push_back(&column);
  return pointers;
}

Statistics describe_here(const ArrayView& matrix, const StatsOptions& options, const RunOptions& run) {
  require_memory("the statistics of " + counted(matrix.n_columns, "column") + " need",
                 checked::mul(matrix.n_columns, sizeof(ColumnStatistics) + sizeof(Source)), run);
  Job job(options, run);
  Statistics result;
  result.columns.resize(static_cast<std::size_t>(matrix.n_columns));
  const std::vector<Source> sources = columns_of(matrix);
  std::vector<ColumnStatistics*> columns = pointers_to(result.columns);
  const bool by_rows = matrix.column_stride == 1 && matrix.n_columns > 1 && matrix.row_stride != 1;
  if (is_integer(matrix.type)) {
    job.numeric<std::int64_t>(sources, by_rows ? &matrix : nullptr, columns);
  } else {
    job.numeric<double>(sources, by_rows ? &matrix : nullptr, columns);
  }
  result.report = job.report();
  return result;
}

// Why a GPU's array is described on the CPU, from a copy; empty where the GPU reads it.
std::string reason_to_copy(const ArrayView& array, const RunOptions& run) {
  const std::string gpu = "GPU " + std::to_string(array.gpu);
  if (run.device == "cpu") return "the array was copied from " + gpu;
  if (!has_kernels(array.type)) {
    return "the array was copied from " + gpu + ", which does not read " + std::string(to_string(array.type));
  }
  if (array.row_stride < 0 || array.column_stride < 0) {
    return "the array was copied from " + gpu + ", which does not read negative strides";
  }
  return "";
}

Statistics describe_there(const ArrayView& there, const StatsOptions& options, const RunOptions& run) {
  device::check_gpu_array(there, "the array", run);
  const std::string reason = reason_to_copy(there, run);
  if (!reason.empty()) {
    RunOptions cpu = run;
    cpu.device = "cpu";
    Statistics result = describe_here(device::copy_to_host(there, "the array", run), options, cpu);
    result.report.reason = reason;
    return result;
  }
  Job job(options, run);
  Statistics result;
  result.columns.resize(static_cast<std::size_t>(there.n_columns));
  std::vector<ColumnStatistics*> columns = pointers_to(result.columns);
  const std::vector<Source> sources = columns_of(there);
  if (is_integer(there.type)) {
    job.on_gpu<std::int64_t>(there, sources, columns);
  } else {
    job.on_gpu<double>(there, sources, columns);
  }
  if (options.histogram_bins > 0 || options.distinct == StatsOptions::Distinct::count || !options.quantiles.empty()) {
    const ArrayView here = device::copy_to_host(there, "the array", run);
    job.second_pass(columns_of(here), columns);
  }
  result.report = job.report();
  return result;
}

}  // namespace
}  // namespace stats

Statistics describe(const ArrayView& array, const StatsOptions& options, const RunOptions& run) try {
  if (!options.by.empty()) {
    throw Error(ErrorCode::invalid_argument, "an array has no column '" + options.by + "'", {.option = "by"});
  }
  const ArrayView matrix = checked_array(array);
  Statistics result =
      matrix.gpu < 0 ? stats::describe_here(matrix, options, run) : stats::describe_there(matrix, options, run);
  hand_report(run, "statistics", result.report);
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
