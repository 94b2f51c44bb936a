#include "impute/fitted.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/name_index.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "normalize/order_statistic.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"
#include "stope/stats.hpp"
#include "table/check_table.hpp"
#include "table/column_memory.hpp"
#include "table/lasting.hpp"

namespace stope::impute {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void check_options(const ImputeOptions& options) {
  if (options.n_neighbors < 1) {
    throw Error(ErrorCode::invalid_argument, "k = " + std::to_string(options.n_neighbors) + " is not at least 1",
                {.option = "n_neighbors"});
  }
  const MetricInfo& metric = find_metric(options.metric.name);
  if (metric.allows_missing) return;
  throw Error(
      ErrorCode::unsupported,
      "the measure " + std::string(metric.name) +
          " gives no distance where a value is missing, so it finds no donors; nan-euclidean, gower and heom do",
      {.option = "metric"});
}

// Copies the present numbers to the front of `scratch`, and returns how many there are.
std::int64_t gather(const Column& column, Buffer<double>& scratch, const CancelToken& cancel) {
  constexpr std::int64_t kPollMask = (std::int64_t{1} << 22) - 1;
  std::int64_t n = 0;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if ((row & kPollMask) == 0) cancel.check();
    const double value = column.at(row);
    if (!std::isnan(value)) scratch[n++] = value;
  }
  return n;
}

// The mean of the two values in the middle, or the one that is there.
double median_of(const Column& column, Buffer<double>& scratch, const CancelToken& cancel) {
  const std::int64_t n = gather(column, scratch, cancel);
  if (n == 0) return kNaN;
  const std::span<double> values(scratch.data(), static_cast<std::size_t>(n));
  const double upper = normalize::order_statistic(values, n / 2, cancel);
  if (n % 2 == 1) return upper;
  const double lower = normalize::order_statistic(values, n / 2 - 1, cancel);
  return lower == upper ? upper : std::midpoint(lower, upper);
}

double most_frequent(const std::vector<std::int64_t>& counts) {
  const auto most = std::max_element(counts.begin(), counts.end());
  return most == counts.end() || *most == 0 ? kNaN : static_cast<double>(most - counts.begin());
}

void note_present(const Column& column, FilledColumn& filled, const CancelToken& cancel) {
  constexpr std::int64_t kPollMask = (std::int64_t{1} << 22) - 1;
  filled.present.assign(static_cast<std::size_t>(column.size() + 63) / 64, 0);
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if ((row & kPollMask) == 0) cancel.check();
    if (!column.missing(row)) filled.present[static_cast<std::size_t>(row) / 64] |= std::uint64_t{1} << (row % 64);
  }
}

}  // namespace

Fitted::Fitted(const Table& train, const ImputeOptions& options, const RunOptions& run) : options_(options) {
  check_options(options);
  check_shape(train);
  check_names(train);
  choose_columns(train);
  RunOptions inner = run;
  inner.report = {};
  Table features;
  features.n_rows = train.n_rows;
  features.source = train.source;
  for (const std::int64_t at : train.features()) {
    features.columns.push_back(train.columns[static_cast<std::size_t>(at)]);
  }
  features_ = features_of(features);
  normalizer_ = Normalizer::fit(features, options.normalize, inner);
  KnnOptions knn;
  knn.metric = options.metric;
  knn.feature_weights = options.feature_weights;
  index_ = KnnIndex::fit(normalizer_.apply(features, inner), knn, inner);
  look_at_columns(inner);
}

// Keeps the features and what else is filled in.
void Fitted::choose_columns(const Table& train) {
  const std::unordered_set<std::string_view> named(options_.columns.begin(), options_.columns.end());
  NameIndex index(named.empty() ? 0 : train.columns.size());
  for (std::size_t c = 0; c < train.columns.size() && !named.empty(); ++c) index.add(train.columns[c].name);
  for (const std::string& name : options_.columns) {
    if (index.contains(name)) continue;
    std::vector<std::string> known;
    known.reserve(train.columns.size());
    for (const Column& column : train.columns) known.push_back(column.name);
    throw Error(ErrorCode::invalid_argument, "there is no column '" + name + "' to fill" + did_you_mean(name, known),
                {.file = train.source, .option = "columns"});
  }
  train_.n_rows = train.n_rows;
  train_.source = train.source;
  for (const Column& column : train.columns) {
    const bool feature = column.role == Role::regular;
    const bool filled = named.empty() ? feature : named.count(column.name) > 0;
    if (!feature && !filled) continue;
    if (filled) {
      names_.push_back(column.name);
      columns_.push_back({.place = std::ssize(train_.columns)});
    }
    train_.columns.push_back(column);
    make_lasting(train_.columns.back());
  }
}

void Fitted::look_at_columns(const RunOptions& run) {
  Table filled;
  filled.n_rows = train_.n_rows;
  for (const FilledColumn& one : columns_) {
    const Column& column = this->column(one);
    if (column.nominal()) check_codes(column);
    filled.columns.push_back(column);
  }
  const Statistics statistics = describe(filled, {}, silent(run));
  const auto n_columns = std::ssize(columns_);
  const std::int64_t bytes = train_.n_rows * std::int64_t{sizeof(double)};
  ThreadPool pool(static_cast<int>(std::clamp<std::int64_t>(n_columns, 1, threads_within(bytes, run))));
  std::vector<Buffer<double>> scratch(static_cast<std::size_t>(pool.size()));
  PhaseProgress progress(run, "columns", n_columns);
  pool.parallel_for(
      n_columns, run.cancel,
      [&](std::int64_t i, int worker) {
        const auto at = static_cast<std::size_t>(i);
        FilledColumn& one = columns_[at];
        const Column& column = this->column(one);
        const ColumnStatistics& known = statistics.columns[at];
        one.n_present = known.count;
        if (known.missing > 0) note_present(column, one, run.cancel);
        if (column.nominal()) {
          one.fallback = most_frequent(known.counts);
        } else if (options_.strategy == ImputeStrategy::mean) {
          one.fallback = known.mean;
        } else {
          Buffer<double>& values = scratch[static_cast<std::size_t>(worker)];
          if (values.empty()) values = Buffer<double>(train_.n_rows, storage_within(bytes, memory_budget(run)));
          one.fallback = median_of(column, values, run.cancel);
        }
        progress.add(1);
      },
      &progress);
}

}  // namespace stope::impute
