#include "knn/fitted.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.hpp"
#include "base/number_text.hpp"
#include "base/thread_pool.hpp"
#include "knn/filter/index.hpp"
#include "stope/error.hpp"
#include "table/encode.hpp"

namespace stope::knn {

Fitted::Fitted(const Table& train, const KnnOptions& options, const RunOptions& run)
    : train_(train), options_(options), measure_(&find_measure(options.metric)) {
  if (train.n_rows == 0) throw Error(ErrorCode::invalid_file, "the training table has no rows", {train.source});
  select_features(train);
  encode(run);
  describe_attributes();
  check_domain();
  filters_ = std::make_unique<FilterCache>();
  kernel_ = measure_->make({options_.metric, attributes_, rows_.data(), train_.n_rows, options_.compat, run.cancel});
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

void Fitted::encode(const RunOptions& run) {
  const std::int64_t bytes = checked::mul(checked::mul(train_.n_rows, width()), sizeof(double));
  if (const std::int64_t budget = memory_budget(run); bytes > budget) {
    throw Error(ErrorCode::out_of_memory, "the encoded training table needs " + std::to_string(bytes) +
                                              " bytes, the memory limit is " + std::to_string(budget));
  }
  rows_ = Buffer<double>(train_.n_rows * width());
  const std::vector<MatchedColumn> columns = match_columns(features_, train_, options_.compat);
  constexpr std::int64_t kRowsPerTask = 4096;
  ThreadPool pool(run.threads);
  pool.parallel_for(checked::ceil_div(train_.n_rows, kRowsPerTask), run.cancel, [&](std::int64_t task, int) {
    const std::int64_t begin = task * kRowsPerTask;
    encode_rows(columns, begin, std::min(begin + kRowsPerTask, train_.n_rows), rows_.data() + begin * width());
  });
}

void Fitted::describe_attributes() {
  for (std::int64_t a = 0; a < width(); ++a) {
    Attribute& attribute = attributes_[static_cast<std::size_t>(a)];
    if (attribute.nominal) continue;
    double low = kInfinity, high = -kInfinity;
    for (std::int64_t row = 0; row < train_.n_rows; ++row) {
      const double value = rows_[row * width() + a];
      if (value < low) low = value;
      if (value > high) high = value;
    }
    attribute.range = low <= high ? high - low : 0.0;
  }
}

void Fitted::check_domain() const {
  if (measure_->domain == Domain::any) return;
  for (std::int64_t i = 0; i < train_.n_rows * width(); ++i) {
    const double value = rows_[i];
    const bool inside = is_missing(value) || (value > 0.0 && (measure_->domain == Domain::positive || value < 1.0));
    if (inside) continue;
    throw Error(ErrorCode::unsupported,
                "metric " + std::string(measure_->info.name) + " needs training values " +
                    (measure_->domain == Domain::positive ? "above 0" : "between 0 and 1") + "; row " +
                    std::to_string(i / width()) + " of '" + features_[static_cast<std::size_t>(i % width())].name +
                    "' has " + number_text(value),
                {train_.source});
  }
}

}  // namespace stope::knn
