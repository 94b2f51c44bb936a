#include "knn/fitted.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "base/number_text.hpp"
#include "base/thread_pool.hpp"
#include "knn/engine/plan.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "stope/error.hpp"
#include "table/encode.hpp"

namespace stope::knn {

namespace {

constexpr std::int64_t kStrip = 4096;  // rows encoded at once where they are not held

}  // namespace

Fitted::Fitted(const Table& train, const KnnOptions& options, const RunOptions& run)
    : train_(train), options_(options), measure_(&find_measure(options.metric)) {
  if (train.n_rows == 0) throw Error(ErrorCode::invalid_file, "the training table has no rows", {train.source});
  select_features(train);
  columns_ = match_columns(features_, train_, options_.compat);
  ThreadPool pool(run.threads);
  hold_rows(pool, run);
  describe_attributes(pool, run.cancel);
  const RowVisitor visit_rows = [&](const std::function<void(const double*, std::int64_t)>& visit) {
    Buffer<double> strip(resident() ? 0 : kStrip * width());
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
}

Fitted::~Fitted() = default;

namespace {

void check_weights(const std::vector<double>& weights, std::size_t n_features, const MeasureRow& measure) {
  if (weights.empty()) return;
  if (weights.size() != n_features) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(weights.size()) + " feature weights for " + std::to_string(n_features) + " features");
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0.0) || std::isinf(weights[i])) {
      throw Error(ErrorCode::invalid_argument, "feature weight " + std::to_string(i + 1) + " is " +
                                                   number_text(weights[i]) + "; weights are finite and >= 0");
    }
    if (!measure.takes_weights && weights[i] != 0.0 && weights[i] != 1.0) {
      throw Error(ErrorCode::invalid_argument,
                  "metric " + std::string(measure.info.name) + " takes no feature weights but 0 and 1");
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
              {source});
}

}  // namespace

void Fitted::select_features(const Table& train) {
  std::vector<FeatureSpec> all = features_of(train);
  check_weights(options_.feature_weights, all.size(), *measure_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double weight = options_.feature_weights.empty() ? 1.0 : options_.feature_weights[i];
    // A weight of 0 must drop the attribute rather than multiply: 0 * inf would be NaN.
    if (weight == 0.0) continue;
    check_type(all[i], *measure_, train.source);
    Attribute attribute;
    attribute.weight = weight;
    attribute.nominal = is_nominal(all[i].type);
    attribute.binominal = all[i].type == ValueType::binominal;
    attribute.n_values = static_cast<double>(all[i].values.size());
    attributes_.push_back(attribute);
    features_.push_back(std::move(all[i]));
  }
  if (features_.empty()) {
    throw Error(ErrorCode::invalid_file,
                all.empty() ? "the training table has no features" : "every feature has weight 0", {train.source});
  }
  const auto wanted = static_cast<std::size_t>(measure_->n_attributes);
  if (wanted != 0 && features_.size() != wanted) {
    throw Error(ErrorCode::unsupported,
                "metric " + std::string(measure_->info.name) + " compares exactly " + std::to_string(wanted) +
                    " attribute(s); the table has " + std::to_string(features_.size()),
                {train.source});
  }
}

void Fitted::hold_rows(ThreadPool& pool, const RunOptions& run) {
  // A search needs less memory for images and lists than for the rows.
  constexpr double kShare = 0.6;
  const std::int64_t bytes = checked::mul(checked::mul(train_.n_rows, width()), sizeof(double));
  if (environment::count(environment::Variable::part_rows) > 0) return;
  if (static_cast<double>(bytes) > kShare * static_cast<double>(memory_budget(run))) return;
  rows_ = Buffer<double>(train_.n_rows * width());
  encode(0, train_.n_rows, rows_.data(), pool, run.cancel);
}

void Fitted::encode(std::int64_t begin, std::int64_t end, double* out, ThreadPool& pool,
                    const CancelToken& cancel) const {
  constexpr std::int64_t kRowsPerTask = 512;
  pool.parallel_for(checked::ceil_div(end - begin, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t first = begin + task * kRowsPerTask;
    encode_rows(columns_, first, std::min(first + kRowsPerTask, end), out + (first - begin) * width());
  });
}

std::vector<double> Fitted::sample(std::int64_t n) const {
  constexpr std::int64_t kMostValues = std::int64_t{1} << 22;  // fewer rows of a very wide table, but some
  n = std::min(std::min(n, std::max<std::int64_t>(kMostValues / width(), 64)), train_.n_rows);
  std::vector<double> rows(static_cast<std::size_t>(checked::mul(n, width())));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = i * train_.n_rows / n;
    encode_rows(columns_, row, row + 1, rows.data() + i * width());
  }
  return rows;
}

const double* Fitted::strip_rows(std::int64_t begin, std::int64_t n, double* strip) const {
  if (resident()) return rows_.data() + begin * width();
  encode_rows(columns_, begin, begin + n, strip);
  return strip;
}

void Fitted::describe_attributes(ThreadPool& pool, const CancelToken& cancel) {
  struct Extremes {
    std::vector<double> low, high;
    std::vector<unsigned char> missing;
    Buffer<double> strip;
  };
  std::vector<Extremes> of_worker(static_cast<std::size_t>(pool.size()));
  pool.parallel_for(checked::ceil_div(train_.n_rows, kStrip), cancel, [&](std::int64_t task, int worker) {
    auto& [low, high, missing, strip] = of_worker[static_cast<std::size_t>(worker)];
    if (low.empty()) {
      low.assign(attributes_.size(), kInfinity);
      high.assign(attributes_.size(), -kInfinity);
      missing.assign(attributes_.size(), 0);
      strip = Buffer<double>(resident() ? 0 : kStrip * width());
    }
    const std::int64_t n = std::min(kStrip, train_.n_rows - task * kStrip);
    const double* value = strip_rows(task * kStrip, n, strip.data());
    for (std::int64_t row = 0; row < n; ++row) {
      for (std::size_t a = 0; a < low.size(); ++a, ++value) {
        low[a] = *value < low[a] ? *value : low[a];
        high[a] = *value > high[a] ? *value : high[a];
        missing[a] |= is_missing(*value) ? 1 : 0;
      }
    }
  });
  for (std::size_t a = 0; a < attributes_.size(); ++a) {
    for (const Extremes& extremes : of_worker) {
      if (!extremes.low.empty()) attributes_[a].missing |= extremes.missing[a] != 0;
    }
    if (attributes_[a].nominal) continue;
    double low = kInfinity, high = -kInfinity;
    for (const Extremes& extremes : of_worker) {
      if (extremes.low.empty()) continue;
      low = std::min(low, extremes.low[a]);
      high = std::max(high, extremes.high[a]);
    }
    attributes_[a].range = low <= high ? high - low : 0.0;
  }
}

void Fitted::check_domain(const RowVisitor& visit_rows) const {
  if (measure_->domain == Domain::any) return;
  std::int64_t before = 0;  // rows in earlier strips
  visit_rows([&](const double* rows, std::int64_t n) {
    for (std::int64_t i = 0; i < n * width(); ++i) {
      const double value = rows[i];
      const bool inside = is_missing(value) || (value > 0.0 && (measure_->domain == Domain::positive || value < 1.0));
      if (inside) continue;
      throw Error(ErrorCode::unsupported,
                  "metric " + std::string(measure_->info.name) + " needs training values " +
                      (measure_->domain == Domain::positive ? "above 0" : "between 0 and 1") + "; row " +
                      std::to_string(before + i / width()) + " of '" +
                      features_[static_cast<std::size_t>(i % width())].name + "' has " + number_text(value),
                  {train_.source});
    }
    before += n;
  });
}

}  // namespace stope::knn
