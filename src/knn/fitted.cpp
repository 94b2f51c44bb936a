#include "knn/fitted.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/environment.hpp"
#include "base/huge_pages.hpp"
#include "base/number_text.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "base/threads_for.hpp"
#include "knn/engine/plan.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/gpu/gpu_table.hpp"
#include "knn/range_warning.hpp"
#include "knn/ranges.hpp"
#include "knn/row_sum.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"
#include "table/encode.hpp"
#include "table/lasting.hpp"

namespace stope::knn {

namespace {

constexpr std::int64_t kStrip = 4096;  // rows encoded at once where they are not held

}  // namespace

// The extremes of every attribute among the rows that one thread has seen.
struct Fitted::Extremes {
  explicit Extremes(std::int64_t width)
      : low(static_cast<std::size_t>(width), kInfinity), high(low.size(), -kInfinity), missing(low.size(), 0) {}

  void add(const double* rows, std::int64_t n) {
    const auto width = static_cast<std::int64_t>(low.size());
    std::int64_t row = 0;
    for (; row + kTogether <= n; row += kTogether) add_together<kTogether>(rows + row * width);
    for (; row < n; ++row) add_together<1>(rows + row * width);
    n_rows += n;
  }

  std::vector<double> low, high;
  std::vector<std::int64_t> missing;  // all bits of an attribute of which a value is missing
  std::int64_t n_rows = 0;

 private:
  static constexpr std::int64_t kTogether = 4;

  // Compilers make vectors of the loop: it has no branches, and all arrays have elements of one size.
  template <std::int64_t together>
  void add_together(const double* rows) {
    const auto width = static_cast<std::int64_t>(low.size());
    double* const lows = low.data();
    double* const highs = high.data();
    std::int64_t* const gaps = missing.data();
    for (std::int64_t a = 0; a < width; ++a) {
      double least = lows[a], most = highs[a];
      std::int64_t gap = gaps[a];
      for (std::int64_t row = 0; row < together; ++row) {
        const double value = rows[row * width + a];
        least = value < least ? value : least;
        most = value > most ? value : most;
        gap |= value != value ? -1 : 0;
      }
      lows[a] = least, highs[a] = most, gaps[a] = gap;
    }
  }
};

Fitted::Fitted(const Table& train, const KnnOptions& options, const RunOptions& run)
    : train_(train), options_(options), measure_(&find_measure(options.metric)) {
  select_features();
  ThreadPool pool(fit_threads(run));
  std::vector<Extremes> seen(static_cast<std::size_t>(pool.size()), Extremes(width()));
  hold_rows(pool, run, [&](const double* rows, std::int64_t n, int worker) {
    seen[static_cast<std::size_t>(worker)].add(rows, n);
  });
  keep_other_columns(run);
  finish(pool, run, std::move(seen));
}

Fitted::Fitted(Table outline, Rows rows, const ReadRows& read, const KnnOptions& options, const RunOptions& run)
    : train_(std::move(outline)),
      options_(options),
      measure_(&find_measure(options.metric)),
      shared_(rows == Rows::shared) {
  select_features();
  ThreadPool pool(fit_threads(run));
  std::vector<Extremes> seen(static_cast<std::size_t>(pool.size()), Extremes(width()));
  rows_ = read(pool, [&](const double* values, std::int64_t n, int worker) {
    seen[static_cast<std::size_t>(worker)].add(values, n);
  });
  resident_ = true;
  finish(pool, run, std::move(seen));
}

Fitted::Fitted(Table outline, std::shared_ptr<const GpuTable> rows, const KnnOptions& options, const RunOptions& run)
    : train_(std::move(outline)),
      options_(options),
      measure_(&find_measure(options.metric)),
      resident_(true),
      on_host_(false),
      gpu_rows_(std::move(rows)) {
  select_features();
  ThreadPool pool(1);
  const GpuTable::Extremes found = gpu_rows_->extremes();
  std::vector<Extremes> seen(1, Extremes(width()));
  seen.front().low = found.low;
  seen.front().high = found.high;
  std::copy(found.missing.begin(), found.missing.end(), seen.front().missing.begin());
  seen.front().n_rows = n_rows();
  finish(pool, run, std::move(seen));
}

int Fitted::fit_threads(const RunOptions& run) const {
  constexpr double kSecondsPerValue = 2e-9;  // to encode it and to look for extremes
  const double seconds = kSecondsPerValue * static_cast<double>(train_.n_rows) * static_cast<double>(width());
  return threads_for(seconds, run.threads > 0 ? run.threads : available_threads());
}

void Fitted::finish(ThreadPool& pool, const RunOptions& run, std::vector<Extremes> seen) {
  const auto n_seen = [](std::int64_t n, const Extremes& extremes) { return n + extremes.n_rows; };
  if (std::accumulate(seen.begin(), seen.end(), std::int64_t{0}, n_seen) < train_.n_rows) {
    see_all_rows(pool, run.cancel, seen);
  }
  describe_attributes(seen);
  take_given_ranges();
  if (lent()) sum_of_some_ = sum_of_some_rows();
  const RowVisitor visit_rows = [&](const std::function<void(const double*, std::int64_t)>& visit) {
    Buffer<double> strip(resident() ? 0 : checked::mul(std::min(kStrip, train_.n_rows), width()));
    for (std::int64_t begin = 0; begin < train_.n_rows; begin += kStrip) {
      run.cancel.check();
      const std::int64_t n = std::min(kStrip, train_.n_rows - begin);
      visit(strip_rows(begin, n, strip.data()), n);
    }
  };
  check_domain(visit_rows);
  filters_ = std::make_unique<FilterCache>();
  gpu_filters_ = std::make_unique<GpuFilterCache>();
  history_ = std::make_unique<SearchHistory>();
  kernel_ = measure_->make({options_.metric, attributes_, visit_rows, train_.n_rows, options_.compat, run.cancel});
  if (run.warn) warn_of_ranges(numeric_ranges(), options_, run);  // at last: until here the table may be refused
}

Fitted::~Fitted() = default;

bool Fitted::all_finite() const {
  const auto has_numbers = [](const FeatureRange& range) { return range.low > -kInfinity && range.high < kInfinity; };
  return std::all_of(ranges_.features.begin(), ranges_.features.end(), has_numbers) &&
         std::none_of(attributes_.begin(), attributes_.end(), [](const Attribute& a) { return a.missing; });
}

bool holds_rows(std::int64_t bytes, const RunOptions& run) {
  // A search needs less memory for images and lists than for the rows.
  constexpr double kShare = 0.6;
  return environment::count(environment::Variable::part_rows) == 0 &&
         static_cast<double>(bytes) <= kShare * static_cast<double>(memory_budget(run));
}

namespace {

void check_weights(const std::vector<double>& weights, std::size_t n_features, const MeasureRow& measure) {
  if (weights.empty()) return;
  if (weights.size() != n_features) {
    throw Error(ErrorCode::invalid_argument,
                counted(std::ssize(weights), "feature weight") + " for " +
                    counted(static_cast<std::int64_t>(n_features), "feature"),
                {.option = "feature_weights"});
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0.0) || std::isinf(weights[i])) {
      throw Error(ErrorCode::invalid_argument,
                  "feature weight " + std::to_string(i) + ", counted from 0, is " + number_text(weights[i]) +
                      "; weights are finite and >= 0",
                  {.option = "feature_weights"});
    }
    if (!measure.takes_weights && weights[i] != 0.0 && weights[i] != 1.0) {
      throw Error(ErrorCode::invalid_argument,
                  "metric " + std::string(measure.info.name) + " takes no feature weights but 0 and 1",
                  {.option = "feature_weights"});
    }
  }
}

void check_type(const FeatureSpec& feature, const MeasureRow& measure, const std::string& source) {
  const bool nominal = is_nominal(feature.type);
  const Accepts accepts = measure.info.accepts;
  if (accepts == Accepts::mixed || (accepts == Accepts::nominal) == nominal) return;
  throw Error(ErrorCode::unsupported,
              "metric " + std::string(measure.info.name) + " takes " + (nominal ? "numeric" : "nominal") +
                  " attributes only; '" + feature.name + "' is " + (nominal ? "nominal" : "numeric"),
              {.file = source, .option = "metric", .feature = feature.name});
}

}  // namespace

void Fitted::select_features() {
  if (train_.n_rows == 0) throw Error(ErrorCode::invalid_data, "the training table has no rows", {train_.source});
  const std::vector<std::int64_t> positions = train_.features();
  std::vector<FeatureSpec> all = features_of(train_);
  check_weights(options_.feature_weights, all.size(), *measure_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double weight = options_.feature_weights.empty() ? 1.0 : options_.feature_weights[i];
    // A weight of 0 must drop the attribute rather than multiply: 0 * inf would be NaN.
    if (weight == 0.0) continue;
    check_type(all[i], *measure_, train_.source);
    Attribute attribute;
    attribute.weight = weight;
    attribute.nominal = is_nominal(all[i].type);
    attribute.binominal = all[i].type == ValueType::binominal;
    attribute.n_values = static_cast<double>(all[i].values.size());
    attributes_.push_back(attribute);
    features_.push_back(std::move(all[i]));
    compared_.push_back(static_cast<std::size_t>(positions[i]));
  }
  if (features_.empty()) {
    throw Error(ErrorCode::invalid_data,
                all.empty() ? "the training table has no features" : "every feature has weight 0", {train_.source});
  }
  const auto wanted = static_cast<std::size_t>(measure_->n_attributes);
  if (wanted != 0 && features_.size() != wanted) {
    throw Error(ErrorCode::unsupported,
                "metric " + std::string(measure_->info.name) + " compares exactly " +
                    counted(static_cast<std::int64_t>(wanted), "attribute") + "; the table has " +
                    std::to_string(features_.size()),
                {.file = train_.source, .option = "metric"});
  }
}

void Fitted::hold_rows(ThreadPool& pool, const RunOptions& run, const SeeRows& see) {
  columns_ = match_columns(features_, train_, options_.compat);
  if (!holds_rows(checked::mul(checked::mul(train_.n_rows, width()), sizeof(double)), run)) return;
  Buffer<double> rows(train_.n_rows * width());
  prefer_huge_pages(rows.data(), static_cast<std::size_t>(rows.size()) * sizeof(double));
  PhaseProgress progress(run, "fit", train_.n_rows);
  encode(0, train_.n_rows, rows.data(), pool, run.cancel, &progress, see);
  rows_ = std::move(rows);
  resident_ = true;
}

// The rows replace the columns that they were encoded from. Other columns may be asked for later: groups, and the whole
// table by train().
void Fitted::keep_other_columns(const RunOptions& run) {
  if (resident()) {
    columns_.clear();
    for (const std::size_t index : compared_) {
      std::visit([](auto& values) { values = {}; }, train_.columns[index].data);
    }
  }
  const Storage storage = storage_within(train_.bytes_in_memory(), memory_budget(run));
  for (Column& column : train_.columns) make_lasting(column, storage);
}

namespace {

void decode(double value, double& out) {
  out = value;
}
void decode(double value, float& out) {
  out = static_cast<float>(value);
}
void decode(double value, std::int32_t& out) {
  out = is_missing(value) ? kMissingCode : static_cast<std::int32_t>(value);
}

}  // namespace

void Fitted::decode_columns(const std::vector<std::size_t>& attributes, Table& table) const {
  // A strip of rows stays in the cache while every column takes its values from it.
  constexpr std::int64_t kTogether = 256;
  for (const std::size_t a : attributes) {
    std::visit([&](auto& values) { values = std::decay_t<decltype(values)>(n_rows()); },
               table.columns[compared_[a]].data);
  }
  for (std::int64_t begin = 0; begin < n_rows(); begin += kTogether) {
    const std::int64_t end = std::min(begin + kTogether, n_rows());
    for (const std::size_t a : attributes) {
      const double* const from = rows() + a;
      std::visit(
          [&](auto& values) {
            for (std::int64_t row = begin; row < end; ++row) decode(from[row * width()], values[row]);
          },
          table.columns[compared_[a]].data);
    }
  }
}

Table Fitted::train() const {
  Table table = train_;
  std::vector<std::size_t> attributes(resident() ? compared_.size() : 0);
  std::iota(attributes.begin(), attributes.end(), std::size_t{0});
  decode_columns(attributes, table);
  return table;
}

Column Fitted::train_column(std::int64_t index) const {
  Table table = train_;
  const auto found = std::find(compared_.begin(), compared_.end(), static_cast<std::size_t>(index));
  if (resident() && found != compared_.end()) {
    decode_columns({static_cast<std::size_t>(found - compared_.begin())}, table);
  }
  return table.columns[static_cast<std::size_t>(index)];
}

void Fitted::encode(std::int64_t begin, std::int64_t end, double* out) const {
  if (resident()) {
    std::copy(rows() + begin * width(), rows() + end * width(), out);
  } else {
    encode_rows(columns_, begin, end, out);
  }
}

void Fitted::encode(std::int64_t begin, std::int64_t end, double* out, ThreadPool& pool, const CancelToken& cancel,
                    PhaseProgress* progress, const SeeRows& see) const {
  const std::int64_t rows_per_task = rows_in_cache(width());
  pool.parallel_for(
      checked::ceil_div(end - begin, rows_per_task), cancel,
      [&](std::int64_t task, int worker) {
        const std::int64_t first = begin + task * rows_per_task;
        const std::int64_t last = std::min(first + rows_per_task, end);
        double* const to = out + (first - begin) * width();
        encode(first, last, to);
        if (see) see(to, last - first, worker);
        if (progress != nullptr) progress->add(last - first);
      },
      progress);
}

const double* Fitted::strip_rows(std::int64_t begin, std::int64_t n, double* strip) const {
  if (resident()) return rows() + begin * width();
  encode_rows(columns_, begin, begin + n, strip);
  return strip;
}

void Fitted::see_all_rows(ThreadPool& pool, const CancelToken& cancel, std::vector<Extremes>& extremes) {
  const std::int64_t strip = rows_in_cache(width());
  std::vector<Buffer<double>> strips(extremes.size());
  std::atomic<std::uint64_t> sum{0};
  pool.parallel_for(checked::ceil_div(train_.n_rows, strip), cancel, [&](std::int64_t task, int worker) {
    const std::int64_t begin = task * strip, n = std::min(strip, train_.n_rows - begin);
    Buffer<double>& space = strips[static_cast<std::size_t>(worker)];
    if (!resident() && space.empty()) space = Buffer<double>(std::min(strip, train_.n_rows) * width());
    const double* const rows = strip_rows(begin, n, space.data());
    if (lent()) sum += row_sum(rows, begin, n, width());
    extremes[static_cast<std::size_t>(worker)].add(rows, n);
  });
  sum_ = sum;
}

void Fitted::describe_attributes(const std::vector<Extremes>& extremes) {
  for (std::size_t a = 0; a < attributes_.size(); ++a) {
    double low = kInfinity, high = -kInfinity;
    for (const Extremes& of_worker : extremes) {
      attributes_[a].missing |= of_worker.missing[a] != 0;
      low = std::min(low, of_worker.low[a]);
      high = std::max(high, of_worker.high[a]);
    }
    ranges_.features.push_back({features_[a].name, low, high});
    if (!attributes_[a].nominal) attributes_[a].range = width_of(ranges_.features[a]);
  }
}

// The whole's ranges take the place of those of the rows at hand, which are a part of it.
void Fitted::take_given_ranges() {
  if (options_.ranges.features.empty()) return;
  if (measure_->needs_all_rows || options_.compat == Compat::rapidminer) {
    throw Error(ErrorCode::unsupported,
                options_.compat == Compat::rapidminer
                    ? "ranges of a whole table are given, but RapidMiner's lists of its parts do not merge"
                    : "ranges of a whole table are given, but metric " + std::string(measure_->info.name) +
                          " needs all its rows");
  }
  for (std::size_t a = 0; a < attributes_.size(); ++a) {
    if (attributes_[a].nominal) continue;
    const FeatureRange own = ranges_.features[a];
    const FeatureRange& whole = range_of(options_.ranges, own.name);
    if (!(whole.low <= own.low && whole.high >= own.high)) {
      throw Error(ErrorCode::invalid_argument,
                  "the feature '" + own.name + "' has values from " + number_text(own.low) + " to " +
                      number_text(own.high) + ", beyond the given range from " + number_text(whole.low) + " to " +
                      number_text(whole.high),
                  {train_.source});
    }
    ranges_.features[a] = whole;
    attributes_[a].range = width_of(whole);
  }
}

FeatureRanges Fitted::numeric_ranges() const {
  FeatureRanges numeric;
  for (std::size_t a = 0; a < attributes_.size(); ++a) {
    if (!attributes_[a].nominal) numeric.features.push_back(ranges_.features[a]);
  }
  return numeric;
}

namespace {

[[noreturn]] void refuse_changed_rows(const std::string& source) {
  throw Error(ErrorCode::invalid_argument,
              "the training rows have changed since the index was fitted: memory that an index shares must stay as it "
              "is",
              {source});
}

}  // namespace

std::uint64_t Fitted::sum_of_some_rows() const {
  constexpr std::int64_t kSome = 64;
  const std::int64_t n = std::min(kSome, train_.n_rows);
  Buffer<double> strip(resident() ? 0 : width());
  for (std::int64_t i = 0; i < n && resident(); ++i) __builtin_prefetch(rows() + i * train_.n_rows / n * width());
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = i * train_.n_rows / n;
    sum += row_sum(strip_rows(row, 1, strip.data()), row, 1, width());
  }
  return sum;
}

void Fitted::check_some_rows() const {
  if (lent() && sum_of_some_rows() != sum_of_some_) refuse_changed_rows(train_.source);
}

void Fitted::check_rows(int threads, const CancelToken& cancel) const {
  if (!shared_) return;
  ThreadPool pool(threads);
  std::atomic<std::uint64_t> sum{0};
  pool.parallel_for(checked::ceil_div(train_.n_rows, kStrip), cancel, [&](std::int64_t task, int) {
    const std::int64_t n = std::min(kStrip, train_.n_rows - task * kStrip);
    sum += row_sum(rows() + task * kStrip * width(), task * kStrip, n, width());
  });
  check_sum(sum);
}

void Fitted::check_sum(std::uint64_t sum) const {
  if (sum != sum_) refuse_changed_rows(train_.source);
}

void Fitted::check_domain(const RowVisitor& visit_rows) const {
  if (measure_->domain == Domain::any) return;
  std::int64_t before = 0;  // rows in earlier strips
  visit_rows([&](const double* rows, std::int64_t n) {
    for (std::int64_t i = 0; i < n * width(); ++i) {
      const double value = rows[i];
      const bool inside = is_missing(value) || (value > 0.0 && (measure_->domain == Domain::positive || value < 1.0));
      if (inside) continue;
      const std::int64_t row = before + i / width();
      const std::string& name = features_[static_cast<std::size_t>(i % width())].name;
      throw Error(ErrorCode::unsupported,
                  "metric " + std::string(measure_->info.name) + " needs training values " +
                      (measure_->domain == Domain::positive ? "above 0" : "between 0 and 1") + "; row " +
                      std::to_string(row) + " of '" + name + "' has " + number_text(value),
                  {.file = train_.source, .option = "metric", .feature = name, .row = row});
    }
    before += n;
  });
}

}  // namespace stope::knn
