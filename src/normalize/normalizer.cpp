// Normalizer: which columns are fitted, and how a fitted transform is applied (stope/normalize.hpp).
#include "stope/normalize.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/choices.hpp"
#include "base/guarded.hpp"
#include "base/name_index.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "base/thread_pool.hpp"
#include "normalize/fit_column.hpp"
#include "stope/error.hpp"
#include "table/check_table.hpp"
#include "table/column_error.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

constexpr std::string_view kMethods[] = {"none", "range", "z", "proportion", "interquartile"};
constexpr std::string_view kRapidMinerMethods[] = {"", "range transformation", "Z-transformation",
                                                   "proportion transformation", "interquartile range"};

void check_range(const NormalizeOptions& options) {
  const bool finite = std::isfinite(options.min) && std::isfinite(options.max);
  if (finite && (options.min < options.max || options.compat == Compat::rapidminer)) return;
  throw Error(ErrorCode::invalid_argument,
              "the range from min " + std::to_string(options.min) + " to max " + std::to_string(options.max) +
                  " is not an interval of finite numbers",
              {.option = "min"});
}

// RapidMiner's value type "date" is not a kind of "numeric", so its Normalize leaves dates alone.
bool is_fitted(const Column& column, Compat compat) {
  return column.role == Role::regular && !column.nominal() &&
         !(compat == Compat::rapidminer && column.type == ValueType::date);
}

// Copies the present values, in row order, to the front of `scratch`.
std::span<double> gather_present(const Table& table, const Column& column, Compat compat, Buffer<double>& scratch,
                                 const CancelToken& cancel) {
  constexpr std::int64_t kPollMask = (std::int64_t{1} << 22) - 1;  // some milliseconds of rows
  std::int64_t n_present = 0;
  std::visit(
      [&](const auto& from) {
        for (std::int64_t row = 0; row < table.n_rows; ++row) {
          if ((row & kPollMask) == 0) cancel.check();
          const auto value = static_cast<double>(from[row]);
          if (std::isnan(value)) continue;
          // The difference of two infinities is NaN, which would silently read as missing.
          if (std::isinf(value) && compat == Compat::none) {
            throw column_error(ErrorCode::invalid_data, table, column, ": an infinite value cannot be normalised", row);
          }
          scratch[n_present++] = value;
        }
      },
      column.data);
  return {scratch.data(), static_cast<std::size_t>(n_present)};
}

// Fits all columns in one pass.
void fit_by_statistics(const Table& table, const std::vector<const Column*>& fitted, const NormalizeOptions& options,
                       const RunOptions& run, std::vector<ColumnTransform>& transforms) {
  Table columns;
  columns.n_rows = table.n_rows;
  for (const Column* column : fitted) columns.columns.push_back(*column);  // their values are shared, not copied
  StatsOptions wanted;
  if (options.method == Normalization::range) wanted.depth = StatsOptions::Depth::extremes;
  const Statistics statistics = describe(columns, wanted, run);
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    transforms[i] = normalize::fit_statistics(statistics.columns[i], options, table, *fitted[i]);
    transforms[i].name = fitted[i]->name;
  }
}

// At most one thread per column, and as many as the budget has room for scratch columns. If it has room for none, one
// thread works with a scratch column in a file.
int plan_threads(const RunOptions& run, std::int64_t n_columns, std::int64_t scratch_bytes) {
  const int wanted = run.threads > 0 ? run.threads : available_threads();
  const std::int64_t room = memory_budget(run) / std::max<std::int64_t>(scratch_bytes, 1);
  return static_cast<int>(std::clamp<std::int64_t>(std::min(n_columns, room), 1, wanted));
}

// Fills `out`, which is as long as the column.
Column transformed(const Column& column, const ColumnTransform& transform, Buffer<double> out) {
  if (transform.constant) {
    std::fill(out.begin(), out.end(), *transform.constant);
  } else {
    std::visit(
        [&](const auto& from) {
          for (std::int64_t row = 0; row < out.size(); ++row) {
            const auto value = static_cast<double>(from[row]);
            out[row] = (value - transform.shift) / transform.scale * transform.factor + transform.offset;
          }
        },
        column.data);
  }
  return {column.name, ValueType::real, column.role, std::move(out), {}};
}

// RapidMiner replaces numeric attributes by new ones, which end up in front; columns of special roles come last.
void order_as_rapidminer(std::vector<Column>& columns) {
  const auto group = [](const Column& column) {
    if (column.role != Role::regular) return 2;
    return column.nominal() || column.type == ValueType::date ? 1 : 0;
  };
  std::stable_sort(columns.begin(), columns.end(),
                   [&](const Column& a, const Column& b) { return group(a) < group(b); });
}

}  // namespace

std::string_view to_string(Normalization method) noexcept {
  return name_of(kMethods, method);
}

Normalization normalization(std::string_view name) try {
  const auto* const at = std::find(std::begin(kRapidMinerMethods), std::end(kRapidMinerMethods), name);
  if (!name.empty() && at != std::end(kRapidMinerMethods)) {
    return static_cast<Normalization>(at - std::begin(kRapidMinerMethods));
  }
  return choice_of<Normalization>(kMethods, name, {"normalisation", "method"});
} catch (...) {
  rethrow_as_error();
}

Normalizer Normalizer::of(const NormalizeOptions& options, std::vector<ColumnTransform> columns) try {
  Normalizer normalizer;
  normalizer.options_ = options;
  normalizer.transforms_ = std::move(columns);
  return normalizer;
} catch (...) {
  rethrow_as_error();
}

Normalizer Normalizer::fit(const Table& table, const NormalizeOptions& options, const RunOptions& run) try {
  check_shape(table);
  check_names(table);
  const JobTime time(run);
  Normalizer normalizer;
  normalizer.options_ = options;
  if (options.method == Normalization::none) return normalizer;
  if (options.method == Normalization::range) check_range(options);

  std::vector<const Column*> fitted;
  for (const Column& column : table.columns) {
    if (is_fitted(column, options.compat)) fitted.push_back(&column);
  }
  normalizer.transforms_.resize(fitted.size());
  if (options.compat == Compat::none && options.method != Normalization::interquartile) {
    RunOptions inner = run;
    inner.report = {};
    fit_by_statistics(table, fitted, options, inner, normalizer.transforms_);
    time.hand("normalize", run.threads > 0 ? run.threads : available_threads());
    return normalizer;
  }
  const auto n_columns = static_cast<std::int64_t>(fitted.size());
  const std::int64_t scratch_bytes = checked::mul(table.n_rows, std::int64_t{sizeof(double)});
  ThreadPool pool(plan_threads(run, n_columns, scratch_bytes));
  const Storage storage = scratch_bytes > memory_budget(run) ? Storage::file : Storage::memory;
  std::vector<Buffer<double>> scratch(static_cast<std::size_t>(pool.size()));

  PhaseProgress progress(run, "fit normalisation", n_columns);
  pool.parallel_for(
      n_columns, run.cancel,
      [&](std::int64_t i, int worker) {
        const Column& column = *fitted[static_cast<std::size_t>(i)];
        Buffer<double>& values = scratch[static_cast<std::size_t>(worker)];
        if (values.empty()) values = Buffer<double>(table.n_rows, storage);
        const normalize::PresentValues present{gather_present(table, column, options.compat, values, run.cancel),
                                               table.n_rows};
        ColumnTransform transform = options.compat == Compat::rapidminer
                                        ? normalize::fit_column_rapidminer(present, options, run.cancel)
                                        : normalize::fit_interquartile(present, options, table, column, run.cancel);
        transform.name = column.name;
        normalizer.transforms_[static_cast<std::size_t>(i)] = std::move(transform);
        progress.add(1);
      },
      &progress);
  time.hand("normalize", pool.size());
  return normalizer;
} catch (...) {
  rethrow_as_error();
}

Table Normalizer::apply(const Table& table, const RunOptions& run) const try {
  check_shape(table);
  Table result = table;
  if (options_.method == Normalization::none) return result;

  NameIndex by_name(transforms_.size());
  by_name.add_all(transforms_, [](const ColumnTransform& transform) -> std::string_view { return transform.name; });
  std::vector<std::pair<Column*, const ColumnTransform*>> work;
  for (Column& column : result.columns) {
    const std::int64_t found = by_name.find(column.name);
    if (found < 0) continue;
    if (column.nominal()) {
      throw column_error(
          ErrorCode::invalid_data, table, column,
          " is " + std::string(to_string(column.type)) + ", but the normalisation was fitted to a numeric column");
    }
    work.emplace_back(&column, &transforms_[static_cast<std::size_t>(found)]);
  }
  const auto n_columns = static_cast<std::int64_t>(work.size());
  const std::int64_t row_bytes = checked::mul(n_columns, std::int64_t{sizeof(double)});
  const Storage storage = storage_within(checked::mul(table.n_rows, row_bytes), memory_budget(run));
  ColumnMemory memory(storage, table.n_rows, n_columns, row_bytes);
  std::vector<Buffer<double>> values;
  values.reserve(work.size());
  for (std::int64_t i = 0; i < n_columns; ++i) values.push_back(memory.take<double>());
  const int threads = run.threads > 0 ? run.threads : available_threads();
  ThreadPool pool(static_cast<int>(std::clamp<std::int64_t>(n_columns, 1, threads)));
  const JobTime time(run);
  PhaseProgress progress(run, "normalise", n_columns);
  pool.parallel_for(
      n_columns, run.cancel,
      [&](std::int64_t i, int) {
        const auto& [column, transform] = work[static_cast<std::size_t>(i)];
        *column = transformed(*column, *transform, std::move(values[static_cast<std::size_t>(i)]));
        progress.add(1);
      },
      &progress);
  if (options_.compat == Compat::rapidminer) order_as_rapidminer(result.columns);
  time.hand("normalize", pool.size());
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
